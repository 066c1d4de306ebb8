package differential_test

// A difference is what the two servers answer to a request where FreeRADIUS is not
// followed, and why.
type difference struct{ user, words, upstream, radpool, why string }

// Answers that many users get.
const (
	reject   = "Reject"
	idle     = "Idle-Timeout = 0000004d (0.0.0.77)"
	accepted = "Accept, " + idle + `, Reply-Message = "hello"`
	until    = accepted + ", Session-Timeout = as the clock says"

	misspelt = "a name that is misspelt may be that of a limit: the row is named and the user let in when it is right, not without it"
	patterns = "a pattern is for the text of any attribute (users(5)); FreeRADIUS tries to read it as a number and refuses the row"
	iso      = "a date that daloRADIUS has written says what it says; FreeRADIUS locks the user out"
	overflow = "a number that 32 bits do not hold is a mistake, which is named; FreeRADIUS sends another number"
	escaped  = "FreeRADIUS asks the database for another name (=27 for an apostrophe), and the user cannot log in; where databases are written so there is EscapeNames"
	old      = "the password is that of the row, as in FreeRADIUS 1; FreeRADIUS 3 forgets it and the user cannot log in"
)

// differences are all that there are: one that is not here fails, and so does one
// that has gone or become another.
var differences = []difference{
	{"op-user-password-set", "pap pw", reject, accepted, old},
	{"pass-user-password", "pap pw", reject, accepted, old},
	{"pass-user-password", "chap pw", reject, accepted, old},
	{"auth-local", "pap pw", reject, accepted, "Local is FreeRADIUS 1's word for comparing the password, which is done; FreeRADIUS 3 knows it no more"},
	{"op-gt-unsigned", "pap pw; NAS-Port = 4000000000", reject, accepted, "4000000000 is more than 5; FreeRADIUS takes it for a negative number"},
	{"op-regex-integer", "pap pw; NAS-Port = 77", reject, accepted, patterns},
	{"op-regex-enum", "pap pw; Service-Type = 2", reject, accepted, patterns},
	{"bad-attribute", "pap pw", accepted, reject, misspelt},
	{"bad-reply-attribute", "pap pw", accepted, reject, misspelt},
	{"reply-group-le-kept", "pap pw",
		"Accept, " + idle + ", Session-Timeout = 00000064 (0.0.0.100), Session-Timeout = 0000012c (0.0.1.44)",
		"Accept, " + idle + ", Session-Timeout = 00000064 (0.0.0.100)", "<= is to leave the lesser; FreeRADIUS sends both"},
	{"reply-group-tag", "pap pw",
		"Accept, " + idle + ", Tunnel-Type = 01000001 (1.0.0.1)",
		"Accept, " + idle + ", Tunnel-Type = 01000001 (1.0.0.1), Tunnel-Type = 0200000d (2.0.0.13)",
		"tags are of different tunnels (RFC 2868 section 3.1); FreeRADIUS takes the second tunnel for there already"},
	{"expire-iso", "pap pw", reject, until, iso},
	{"expire-iso-time", "pap pw", reject, until, iso},
	{"expire-iso-t", "pap pw", reject, until, iso},
	{"auth-accept", "mschapv2 x", "billingtest: an Access-Accept to MS-CHAPv2 without MS-CHAP2-Success: the subscriber hangs up", reject,
		"who accepts without a password cannot prove to the subscriber that it knows it: the Accept is worth nothing"},
	{"pass-empty", "chap ", accepted, reject, "a blank field lets nobody in; FreeRADIUS thinks so too, but for CHAP"},
	{"pass-crypt-des", "pap pw", accepted, reject, "a traditional DES hash is found by trial within hours, and cuts passwords to 8 octets: not supported, and documented so"},
	{"header-unknown", "pap {nosuch}pw", accepted, reject, "a hash with a header that is not known is not a password: whoever reads it could log in with it"},
	{`DOMAIN\user`, "pap pw", reject, accepted, escaped},
	{"o'brien", "pap pw", reject, accepted, escaped},
	{"' OR 1=1 --", "pap pw", reject, accepted, escaped},
	{"plus+name", "pap pw", reject, accepted, escaped},
	{"percent%name", "pap pw", reject, accepted, escaped},
	{"value-integer-negative", "pap pw", accepted + ", Session-Timeout = ffffffff (255.255.255.255)", reject, overflow},
	{"value-integer-over", "pap pw", accepted + ", Session-Timeout = 00000000 (0.0.0.0)", reject, overflow},
	{"value-integer-empty", "pap pw", accepted + ", Session-Timeout = 00000000 (0.0.0.0)", reject, "nothing is not the number 0"},
	{"value-address-blanks", "pap pw", reject, "Accept, Framed-IP-Address = 0a000001 (10.0.0.1), " + idle, "blanks around an address are no part of it"},
	{"value-address-short", "pap pw", "Accept, Framed-IP-Address = 0a000001 (10.0.0.1), " + idle + `, Reply-Message = "hello"`, reject,
		"10.1 is an address cut short, more likely than a way to write 10.0.0.1"},
	{"value-tag-untaggable", "pap pw", accepted + ", Session-Timeout = 00000005 (0.0.0.5)", reject, "a tag where there can be none is a mistake, which is named; FreeRADIUS overlooks it"},
}
