package differential_test

import "strings"

// A difference is what the two servers answer to a request where FreeRADIUS is not
// followed, and why.
type difference struct{ user, words, upstream, radpool, why string }

// Answers that many users get.
const (
	reject      = "Reject"
	idle        = "Idle-Timeout = 0000004d (0.0.0.77)"
	accepted    = "Accept, " + idle + `, Reply-Message = "hello"`
	rejectHello = `Reject, Reply-Message = "hello"`
	rejectWrong = `Reject, Reply-Message = "Invalid user name or password"`
	until       = accepted + ", Session-Timeout = as the clock says"

	patterns = "a pattern is for the text of any attribute (users(5)); FreeRADIUS tries to read it as a number and refuses the row"
	iso      = "a date that daloRADIUS has written says what it says; FreeRADIUS locks the user out"
	overflow = "a number that 32 bits do not hold is a mistake, which is named; FreeRADIUS sends another number"
	escaped  = "FreeRADIUS asks the database for another name (=27 for an apostrophe), and the user cannot log in; where databases are written so there is EscapeNames"
	stranger = "who does not know the password gets the same message whether there is such a user or not; FreeRADIUS sends that of the Access-Accept"
	tooLong  = "what is encrypted has at most 239 octets (RFC 2868 section 3.5); FreeRADIUS sends of a longer one what no NAS can decrypt"
	cut      = "a secret that does not fit is a mistake, which is named; FreeRADIUS sends its beginning, another secret"
	old      = "the password is that of the row, as in FreeRADIUS 1; FreeRADIUS 3 forgets it and the user cannot log in"
)

// mppe is an answer to MS-CHAPv2 with MPPE keys, and with the types of encryption.
func mppe(types string) string {
	return "Accept, " + idle + ", MS-CHAP2-Success = 04533d44453343463637344137413531463130463841463044373941463038313331453431374245344630, " +
		"MS-MPPE-Encryption-Policy = 00000002 (0.0.0.2), " + types +
		", MS-MPPE-Recv-Key = 34, ee1a56823d25105a47bddbc040f95c65, MS-MPPE-Send-Key = 34, 7025e83d42603e0ee7cec187e9b7e3a1"
}

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

	{"reply-group-le-kept", "pap pw",
		"Accept, " + idle + ", Session-Timeout = 00000064 (0.0.0.100), Session-Timeout = 0000012c (0.0.1.44)",
		"Accept, " + idle + ", Session-Timeout = 00000064 (0.0.0.100)", "<= is to leave the lesser; FreeRADIUS sends both"},
	{"reply-group-tag", "pap pw",
		"Accept, " + idle + ", Tunnel-Type = 01000001 (1.0.0.1)",
		"Accept, " + idle + ", Tunnel-Type = 01000001 (1.0.0.1), Tunnel-Type = 0200000d (2.0.0.13)",
		"tags are of different tunnels (RFC 2868 section 3.1); FreeRADIUS takes the second tunnel for there already"},
	{"reject-wrong-password", "pap wrong", rejectHello, rejectWrong, stranger},
	{"reject-wrong-password", "chap wrong", rejectHello, rejectWrong, stranger},
	{"reject-wrong-password", "mschapv2 wrong", rejectHello, rejectWrong, stranger},
	{"expire-iso", "pap pw", reject, until, iso},
	{"expire-iso-time", "pap pw", reject, until, iso},
	{"expire-iso-t", "pap pw", reject, until, iso},
	{"auth-accept", "mschapv2 x", "billingtest: an Access-Accept to MS-CHAPv2 without MS-CHAP2-Success: the subscriber hangs up", reject,
		"who accepts without a password cannot prove to the subscriber that it knows it: the Accept is worth nothing"},
	{"pass-empty", "chap ", accepted, reject, "a blank field lets nobody in; FreeRADIUS thinks so too, but for CHAP"},
	{"header-unknown", "pap {nosuch}pw", accepted, reject, "a hash with a header that is not known is not a password: whoever reads it could log in with it"},
	{`DOMAIN\user`, "pap pw", reject, accepted, escaped},
	{"o'brien", "pap pw", reject, accepted, escaped},
	{"' OR 1=1 --", "pap pw", reject, accepted, escaped},
	{"plus+name", "pap pw", reject, accepted, escaped},
	{"percent%name", "pap pw", reject, accepted, escaped},
	{"value-integer-over", "pap pw", accepted + ", Session-Timeout = 00000000 (0.0.0.0)", reject, overflow},
	{"type-integer-hex-over", "pap pw", accepted + ", Session-Timeout = ffffffff (255.255.255.255)", reject, overflow},
	{"type-integer-huge", "pap pw", accepted + ", Session-Timeout = ffffffff (255.255.255.255)", reject, overflow},
	{"type-integer64-over", "pap pw", "Accept, " + idle + `, MIP6-Feature-Vector = ffffffffffffffff, Reply-Message = "hello"`, reject, overflow},
	{"type-tag-24-bits", "pap pw", accepted + ", Tunnel-Preference = 01000000 (1.0.0.0)", reject, "a number with a tag has 24 bits; FreeRADIUS sends 0 for 16777216"},
	{"type-integer64-hex", "pap pw",
		"Accept, " + idle + ", MIP6-Feature-Vector = 0000000000000000", "Accept, " + idle + ", MIP6-Feature-Vector = ffffffffffffffff",
		"a number after 0x is read like any other; FreeRADIUS sends 0 where it has 64 bits"},
	{"encrypt-tunnel-240", "pap pw", accepted + ", Tunnel-Password = nothing that decrypts", reject, tooLong},
	{"encrypt-tunnel-250", "pap pw", accepted + ", Tunnel-Password = nothing that decrypts", reject, tooLong},
	{"encrypt-user-password-129", "pap pw", accepted + ", User-Password = 128, " + strings.Repeat("75", 128), reject, cut},
	{"encrypt-ascend-17", "pap pw", "Accept, Ascend-Send-Secret = 30313233343536373839616263646566, " + idle + `, Reply-Message = "hello"`, reject, cut},
	{"encrypt-mppe-policy", "mschapv2 pw", mppe(
		"MS-MPPE-Encryption-Policy = 00000001 (0.0.0.1), MS-MPPE-Encryption-Types = 00000002 (0.0.0.2), MS-MPPE-Encryption-Types = 00000006 (0.0.0.6)"),
		mppe("MS-MPPE-Encryption-Types = 00000004 (0.0.0.4)"),
		"what the rows demand is sent; FreeRADIUS sends another policy after it, which allows what the first forbids"},
	{"encrypt-mppe-policy", "pap pw",
		"Accept, " + idle + ", MS-MPPE-Encryption-Policy = 00000002 (0.0.0.2), MS-MPPE-Encryption-Types = 00000002 (0.0.0.2)",
		"Accept, " + idle + ", MS-MPPE-Encryption-Policy = 00000002 (0.0.0.2), MS-MPPE-Encryption-Types = 00000004 (0.0.0.4)",
		"RC4-128bit-Allowed is 4 (RFC 2548 section 2.4.5); FreeRADIUS's dictionary has 2, which is 40 bits"},
	{"reject-cause", "pap pw", "Reject, Error-Cause = 000001f5 (0.0.1.245), State = 01", "Reject, Error-Cause = 000001f5 (0.0.1.245)",
		"there is no State in an Access-Reject (RFC 2865 section 5.44)"},
	{"value-address-blanks", "pap pw", reject, "Accept, Framed-IP-Address = 0a000001 (10.0.0.1), " + idle, "blanks around an address are no part of it"},
}
