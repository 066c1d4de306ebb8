package billing

import "strings"

// parseMAC reads a MAC address in any of the ways in which NASes write one: 12
// hexadecimal digits of either case, with or without ':', '-', '.' or blanks
// between them.
func parseMAC(s string) (mac uint64, ok bool) {
	digits := 0
	for i := range len(s) {
		c := s[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		case c == ':' || c == '-' || c == '.' || c == ' ':
			continue
		default:
			return 0, false
		}
		if digits++; digits > 12 {
			return 0, false
		}
		mac = mac<<4 | uint64(c)
	}
	return mac, digits == 12
}

// sameStation compares two Calling-Station-Ids: MAC addresses by their digits,
// all else by its characters, without regard to case.
func sameStation(a, b string) bool {
	macA, okA := parseMAC(a)
	macB, okB := parseMAC(b)
	if okA && okB {
		return macA == macB
	}
	return strings.EqualFold(a, b)
}

// withoutDomain cuts a Windows domain off a user name: "DOMAIN\name".
func withoutDomain(userName string) string {
	if _, name, ok := strings.Cut(userName, `\`); ok {
		return name
	}
	return userName
}
