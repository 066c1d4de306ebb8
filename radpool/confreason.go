package radpool

import (
	"cmp"
	"slices"
	"strings"
)

// A confReason is why something is passed over, and whether anybody may miss it.
type confReason struct {
	text     string
	harmless bool
}

func lost(text string) confReason     { return confReason{text, false} }
func harmless(text string) confReason { return confReason{text, true} }

// confModule is why a module that is not sql is passed over.
func confModule(name string) confReason {
	switch name {
	case "pap", "chap", "mschap":
		return harmless("PAP, CHAP and MS-CHAP are always there")
	case "expiration", "logintime":
		return harmless("Expiration and Login-Time in rows of the database are obeyed")
	case "acct_unique", "unpack", "expr", "utf8", "always", "cache_eap", "soh", "date":
		return harmless("it serves other modules and policies, which are not run")
	case "radutmp", "sradutmp":
		return harmless("sessions are in radacct")
	case "files":
		return lost("users in it are not served: write them into radcheck and radreply")
	case "passwd", "unix", "smbpasswd", "etc_group":
		return lost("users of the system and of password files are not served: write them into radcheck")
	case "ldap":
		return lost("users in LDAP are not served by billingd: see examples/ldapbackend")
	case "detail":
		return lost("detail files are not written: accounting is in radacct")
	case "linelog":
		return lost("it is not written: see -log-format, and radpostauth for logins")
	case "preprocess":
		return lost("hints and huntgroups are not read, and requests are taken as they come")
	case "attr_filter":
		return lost("attributes are not filtered: the rows of the database are sent as they are")
	case "eap":
		return lost("EAP-MSCHAPv2 and EAP-MD5 are offered alone (-eap), and no method with TLS")
	case "digest", "ntlm_auth":
		return lost("passwords are PAP, CHAP and MS-CHAP: who comes by this is rejected")
	case "realm":
		return lost("nothing is proxied, and user names are not split at @ or \\")
	case "sqlcounter":
		return lost("its limits are not enforced, and rows with them let nobody in")
	case "exec", "echo", "perl", "python", "python3", "ruby", "lua", "rest", "replicate":
		return lost("no program and no other server is called: see docs/from-freeradius.md")
	}
	return lost(confHandler)
}

// sortNotices puts first what may be missed, then by file and line.
func sortNotices(notices []ConfNotice) {
	slices.SortStableFunc(notices, func(a, b ConfNotice) int {
		if a.Harmless != b.Harmless {
			if b.Harmless {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
}
