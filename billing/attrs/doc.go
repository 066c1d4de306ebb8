// Package attrs makes the attributes of a billing.Grant of their names and of
// values as text, for back ends that have them so: an LDAP directory, a file, JSON.
//
//	"Framed-IP-Address", "10.0.0.1" ──► Find ──► Add ──► Grant.Reply
//	"Tunnel-Password", "secret"     ──► Find ──► Add ──► Grant.Hidden, encrypted in each reply
//
// It knows the attributes of the RFCs and of some ninety vendors by the names that
// FreeRADIUS's dictionaries have for them, whatever their case.
package attrs
