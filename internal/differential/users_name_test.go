package differential_test

import "strings"

// Names, as MariaDB compares them, and as requests bring them.
var nameUsers = []*user{
	of("nobody-here").ask("pap pw", "chap pw", "mschapv2 pw", "none"),
	of("Name-Case", plain, hello, "user NAME-CASE", "member ng1 1", "greply ng1 Filter-Id = x").
		ask("pap pw", "pap pw; User-Name = name-case", "pap pw; User-Name = NAME-CASE", "chap pw; User-Name = name-case", "mschapv2 pw; User-Name = name-case"),
	of("name-trailing", plain, hello).ask("pap pw; User-Name = name-trailing ", "pap pw; User-Name =  name-trailing", "pap wrong; User-Name = name-trailing  "),
	of("name with blanks", plain, hello),
	of("name-accent", plain, hello).ask("pap pw; User-Name = náme-accent"),
	of("user@realm.example", plain, hello).ask("pap pw", "pap pw; User-Name = user", "pap pw; User-Name = user@REALM.example"),
	of(`DOMAIN\user`, plain, hello),
	of("o'brien", plain, hello),
	of("' OR 1=1 --", plain, hello),
	of("plus+name", plain, hello),
	of("percent%name", plain, hello).ask("pap pw", "pap pw; User-Name = percentXname"),
	of("under_name", plain, hello).ask("pap pw", "pap pw; User-Name = underXname"),
	of("имя", plain, hello).ask("pap pw", "pap pw; User-Name = ИМЯ"),
	of("00:11:22:33:44:55", "check Cleartext-Password := 00:11:22:33:44:55", hello).ask("pap 00:11:22:33:44:55", "pap 00-11-22-33-44-55", "chap 00:11:22:33:44:55"),
	of(strings.Repeat("n", 64), plain, hello),
	of("name-latin1", plain, hello).ask("pap pw; User-Name = name-\\377"),
}
