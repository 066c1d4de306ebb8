package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// A part is what is watched, and how it was when that was recorded.
type part struct {
	Name      string  `json:"part"`
	Ours      string  `json:"ours"`      // the benchmark, without the word
	Reference string  `json:"reference"` // the one of the naive thing
	Ratio     float64 `json:"ratio"`     // processor time of ours, of that of the reference
	Allocs    float64 `json:"allocs"`    // of an operation of ours, to a tenth
}

func readParts(file string) ([]part, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	parts, err := parseParts(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return parts, nil
}

func parseParts(b []byte) ([]part, error) {
	var parts []part
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&parts); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the list of parts")
	}
	if len(parts) == 0 {
		return nil, errors.New("no parts")
	}
	seen := make(map[string]bool)
	for i, p := range parts {
		switch {
		case p.Name == "" || p.Ours == "" || p.Reference == "":
			return nil, fmt.Errorf("part %d: part, ours and reference must not be empty", i+1)
		case p.Ratio <= 0:
			return nil, fmt.Errorf("part %s: ratio is %v, must be more than 0", p.Name, p.Ratio)
		case p.Allocs < 0:
			return nil, fmt.Errorf("part %s: allocs is %v, must not be negative", p.Name, p.Allocs)
		case seen[p.Name]:
			return nil, fmt.Errorf("part %s: twice", p.Name)
		}
		seen[p.Name] = true
	}
	return parts, nil
}

// recorded returns the parts as they were found, to three digits.
func recorded(parts []part, found []finding) []part {
	now := make([]part, len(parts))
	for i, p := range parts {
		p.Ratio = threeDigits(found[i].ratio)
		p.Allocs = found[i].allocs
		now[i] = p
	}
	return now
}

func threeDigits(x float64) float64 {
	scale := math.Pow(10, 2-math.Floor(math.Log10(x)))
	return math.Round(x*scale) / scale
}

// formatParts has one part a line, so that a diff shows what changed.
func formatParts(parts []part) ([]byte, error) {
	var b bytes.Buffer
	for i, p := range parts {
		line, err := json.Marshal(p)
		if err != nil {
			return nil, err
		}
		b.WriteString(map[bool]string{true: "[\n ", false: ",\n "}[i == 0])
		b.Write(line)
	}
	b.WriteString("\n]\n")
	return b.Bytes(), nil
}

func writeParts(file string, parts []part, out io.Writer) error {
	b, err := formatParts(parts)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, b, 0o666); err != nil {
		return err
	}
	_, err = out.Write(b)
	return err
}
