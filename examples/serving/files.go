package serving

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// FirstLine reads the first line of a file that holds a password or a token, without
// what ends the line. No file: nothing. An empty line is an error; none has what is in it.
func FirstLine(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	line, _, _ := bytes.Cut(content, []byte("\n"))
	if line = bytes.TrimSuffix(line, []byte("\r")); len(line) == 0 {
		return "", fmt.Errorf("%s: the first line is empty", file)
	}
	return string(line), nil
}

// TLS is a configuration for clients that trusts the certificates of a file in PEM, or
// without one those of the system.
func TLS(ca string) (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca == "" {
		return cfg, nil
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	cfg.RootCAs = x509.NewCertPool()
	if !cfg.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: there is no certificate in PEM in it", ca)
	}
	return cfg, nil
}
