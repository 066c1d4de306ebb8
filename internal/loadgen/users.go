package loadgen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"layeh.com/radius"

	"github.com/radpool/radpool/internal/wire"
)

// Bounds of Users.
const (
	MaxUsers      = 10_000_000
	MaxNameLength = wire.MaxValueLength // octets
	maxLine       = 4096
)

// A User is a subscriber.
type User struct {
	Name, Password string

	// Expect is the code that the server must answer an authentication with: Access-Accept or Access-Reject. 0 is either.
	Expect radius.Code
}

// Users are those who log in. They are made by [Pattern] or [ReadUsers], and are not changed after that, so that any
// goroutine may use them.
type Users struct {
	list           []User
	name, password pattern
	count          int
}

// Len is their number.
func (u *Users) Len() int { return u.count }

// pattern is a text with a number in its middle, or none.
type pattern struct {
	before, after string
	numbered      bool
}

func (p pattern) append(dst []byte, n int) []byte {
	dst = append(dst, p.before...)
	if p.numbered {
		dst = strconv.AppendInt(dst, int64(n), 10)
		dst = append(dst, p.after...)
	}
	return dst
}

func newPattern(s string) (pattern, error) {
	before, after, numbered := strings.Cut(s, "%d")
	if strings.Contains(after, "%d") {
		return pattern{}, errors.New("%d may stand in it once")
	}
	return pattern{before, after, numbered}, nil
}

// Pattern is n users whose names and passwords are the two texts with their number, from 0, in the place of %d.
func Pattern(name, password string, n int) (*Users, error) {
	if n < 1 || n > MaxUsers {
		return nil, fmt.Errorf("%d users: must be 1 to %d", n, MaxUsers)
	}
	u := &Users{count: n}
	var err error
	if u.name, err = newPattern(name); err != nil {
		return nil, fmt.Errorf("the name: %w", err)
	}
	if u.password, err = newPattern(password); err != nil {
		return nil, fmt.Errorf("the password: %w", err)
	}
	return u, check(User{string(u.name.append(nil, n-1)), string(u.password.append(nil, n-1)), 0})
}

// ReadUsers reads a user a line: a name, a password, and where it is known accept or reject, with blanks or tabs between
// them. A name or password with blanks stands in double quotes, as a Go string. Empty lines, and those that begin with #,
// are passed over. An error names the line, and never shows a password.
func ReadUsers(r io.Reader) (*Users, error) {
	u := new(Users)
	scanner := bufio.NewScanner(r)
	scanner.Buffer(make([]byte, maxLine), maxLine)
	line := 0
	for scanner.Scan() {
		line++
		text := bytes.TrimSpace(scanner.Bytes())
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		user, err := parseUser(string(text))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if len(u.list) == MaxUsers {
			return nil, fmt.Errorf("line %d: more than %d users", line, MaxUsers)
		}
		u.list = append(u.list, user)
	}
	if err := scanner.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d is longer than %d octets", line+1, maxLine)
	} else if err != nil {
		return nil, err
	}
	if u.count = len(u.list); u.count == 0 {
		return nil, errors.New("there is no user in it")
	}
	return u, nil
}

func parseUser(line string) (u User, err error) {
	var fields []string
	for line = strings.TrimLeft(line, " \t"); line != ""; line = strings.TrimLeft(line, " \t") {
		var field string
		if field, line, err = cutField(line); err != nil {
			return u, fmt.Errorf("field %d: %w", len(fields)+1, err)
		}
		fields = append(fields, field)
	}
	if len(fields) < 2 || len(fields) > 3 {
		return u, fmt.Errorf("%d fields: want a name, a password and perhaps accept or reject", len(fields))
	}
	u.Name, u.Password = fields[0], fields[1]
	if len(fields) == 3 {
		if u.Expect, err = ParseExpect(fields[2]); err != nil {
			return u, fmt.Errorf("field 3: %w", err)
		}
	}
	return u, check(u)
}

// cutField takes the first field of line, which is not empty and begins with none of a blank and a tab.
func cutField(line string) (field, rest string, err error) {
	if line[0] != '"' {
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		return line[:end], line[end:], nil
	}
	quoted, err := strconv.QuotedPrefix(line)
	if err == nil {
		field, err = strconv.Unquote(quoted)
	}
	if err != nil {
		return "", "", errors.New("a text in double quotes does not end, or has a wrong escape")
	}
	rest = line[len(quoted):]
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", "", errors.New("a blank must follow the closing quote")
	}
	return field, rest, nil
}

// ParseExpect reads accept, reject or any.
func ParseExpect(s string) (radius.Code, error) {
	switch s {
	case "accept":
		return radius.CodeAccessAccept, nil
	case "reject":
		return radius.CodeAccessReject, nil
	case "any":
		return 0, nil
	}
	return 0, errors.New("want accept, reject or any")
}

func check(u User) error {
	switch {
	case u.Name == "":
		return errors.New("the name is empty")
	case len(u.Name) > MaxNameLength:
		return fmt.Errorf("the name has %d octets: at most %d fit", len(u.Name), MaxNameLength)
	case len(u.Password) > wire.MaxPasswordLength:
		return fmt.Errorf("the password has %d octets: at most %d fit", len(u.Password), wire.MaxPasswordLength)
	}
	return nil
}

// appendName appends the name of user i, which is from 0 to Len()-1.
func (u *Users) appendName(dst []byte, i int) []byte {
	if u.list != nil {
		return append(dst, u.list[i].Name...)
	}
	return u.name.append(dst, i)
}

func (u *Users) appendPassword(dst []byte, i int) []byte {
	if u.list != nil {
		return append(dst, u.list[i].Password...)
	}
	return u.password.append(dst, i)
}

func (u *Users) expect(i int) radius.Code {
	if u.list != nil {
		return u.list[i].Expect
	}
	return 0
}
