package differential_test

// What stands in an Access-Reject.
var rejectUsers = []*user{
	of("reject-message", plain, "check Auth-Type := Reject", "reply Reply-Message = Pay your bill", "reply Session-Timeout = 5").ask("pap pw", "pap wrong", "chap pw", "mschapv2 pw", "none").says(),
	of("reject-no-password", "check Auth-Type := Reject", "reply Reply-Message = Pay your bill").says(),
	of("reject-messages", "check Auth-Type := Reject", "reply Reply-Message = one", "reply Reply-Message += two", "reply Filter-Id = x").says(),
	of("reject-wrong-password", plain, hello).ask("pap pw", "pap wrong", "chap wrong", "mschapv2 wrong").says(),
	of("reject-silent", "check Auth-Type := Reject"),
	of("reject-cause", "check Auth-Type := Reject", "reply Error-Cause = 501", "reply State = 0x01", "reply Class = 0x02", "reply Mikrotik-Rate-Limit = 1M", "reply Idle-Timeout := 3"),
	of("reject-group", plain, "member jg1 1", "gcheck jg1 Auth-Type := Reject", "greply jg1 Reply-Message = The group is closed").says(),
	of("reject-accept-message", plain, hello, "check Simultaneous-Use := 0"),
}
