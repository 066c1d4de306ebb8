// Package dict knows RADIUS attributes by name: their numbers, their types and
// the names of their values. It turns the text that a database or a
// configuration holds into the octets of the wire, and back for logs.
//
// Dictionaries are embedded, in the format of FreeRADIUS, and parsed at first use.
// They hold the attributes of the RFCs that access networks use, those of the
// vendors that ISPs have, and the internal names of FreeRADIUS that stand in
// radcheck: Cleartext-Password, Simultaneous-Use, Fall-Through and so on. [Load]
// reads others on top of them.
//
// Everything here is immutable after that and may be used by several goroutines
// at once.
package dict
