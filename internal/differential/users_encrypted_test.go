package differential_test

import "strings"

// Attributes that are encrypted on the wire, with the secret and the authenticator
// of the request.
var encryptedUsers = []*user{
	of("encrypt-tunnel", plain, hello, "reply Tunnel-Password = swordfish").ask("pap pw", "chap pw", "pap wrong"),
	of("encrypt-tunnel-tag", plain, "reply Tunnel-Type:1 = L2TP", "reply Tunnel-Password:1 = swordfish"),
	of("encrypt-tunnel-zero", plain, "reply Tunnel-Password:0 = swordfish"),
	of("encrypt-tunnel-two", plain, "reply Tunnel-Password:1 = one", "reply Tunnel-Password:2 += two", "reply Tunnel-Password:2 += two"),
	of("encrypt-tunnel-15", plain, "reply Tunnel-Password = "+strings.Repeat("k", 15)),
	of("encrypt-tunnel-16", plain, "reply Tunnel-Password = "+strings.Repeat("k", 16)),
	of("encrypt-tunnel-31", plain, "reply Tunnel-Password = "+strings.Repeat("k", 31)),
	of("encrypt-tunnel-239", plain, "reply Tunnel-Password = "+strings.Repeat("k", 239)),
	of("encrypt-tunnel-240", plain, hello, "reply Tunnel-Password = "+strings.Repeat("k", 240)),
	of("encrypt-tunnel-250", plain, hello, "reply Tunnel-Password = "+strings.Repeat("k", 250)),
	of("encrypt-tunnel-empty", plain, hello, "reply Tunnel-Password = "),
	of("encrypt-tunnel-number", plain, hello, "reply Attr-69 = 0x7377"),
	of("encrypt-mppe", plain, "reply MS-MPPE-Send-Key = 0x000102030405060708090a0b0c0d0e0f", "reply MS-MPPE-Recv-Key = 0x"+strings.Repeat("ab", 32)).ask("pap pw", "chap pw", "mschap pw", "mschapv2 pw"),
	of("encrypt-mppe-v1", plain, "reply MS-CHAP-MPPE-Keys = 0x"+strings.Repeat("cd", 24)).ask("pap pw", "mschap pw", "mschapv2 pw"),
	of("encrypt-mppe-v1-short", plain, hello, "reply MS-CHAP-MPPE-Keys = 0x"+strings.Repeat("cd", 16)),
	of("encrypt-mppe-policy", plain, "reply MS-MPPE-Encryption-Policy = Encryption-Required", "reply MS-MPPE-Encryption-Types = RC4-128bit-Allowed").ask("pap pw", "mschapv2 pw"),
	of("encrypt-user-password", plain, "reply User-Password = for the NAS"),
	of("encrypt-user-password-128", plain, "reply User-Password = "+strings.Repeat("u", 128)),
	of("encrypt-user-password-129", plain, hello, "reply User-Password = "+strings.Repeat("u", 129)),
	of("encrypt-ascend", plain, "reply Ascend-Send-Secret = shared", "reply Ascend-Receive-Secret = 0123456789abcdef"),
	of("encrypt-ascend-17", plain, hello, "reply Ascend-Send-Secret = 0123456789abcdefg"),
	of("encrypt-erx", plain, "reply ERX-LI-Action = on", "reply ERX-Med-Ip-Address = 192.0.2.1", "reply ERX-Med-Port-Number = 5"),
	of("encrypt-nokia", plain, "reply Alc-LI-Action = enable", "reply Alc-LI-Destination = one"),
	of("encrypt-group", plain, hello, "member eg1 1", "greply eg1 Tunnel-Password:1 = group"),
	of("encrypt-check", plain, hello, "check Tunnel-Password == x"),
}
