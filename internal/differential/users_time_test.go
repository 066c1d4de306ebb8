package differential_test

import (
	"fmt"
	"time"
)

// Expiration in its formats, Login-Time, Current-Time.
func timeUsers() []*user {
	now := time.Now()
	soon, past, far := now.Add(2*time.Hour), now.Add(-2*time.Hour), now.AddDate(0, 0, 40)
	at := func(t time.Time, layout string) string { return "check Expiration := " + t.Format(layout) }
	within, outside, overnight := "0000-1559", "1600-1700", "2200-1559"
	if now.Hour() >= 12 {
		within, outside, overnight = "0800-2359", "0200-0300", "0800-0100"
	}
	day := func(t time.Time) string { return t.Weekday().String()[:2] }
	list := []*user{
		of("expire-second", plain, hello, at(soon, "2 Jan 2006 15:04:05")).timed(),
		of("expire-minute", plain, hello, at(soon, "2 Jan 2006 15:04")).timed(),
		of("expire-padded", plain, hello, at(far, "02 Jan 2006 15:04:05")).timed(),
		of("expire-month-first", plain, hello, at(soon, "Jan 2 2006 15:04:05")).timed(),
		of("expire-month-first-date", plain, hello, at(far, "Jan 2 2006")).timed(),
		of("expire-date", plain, hello, at(far, "2 Jan 2006")).timed(),
		of("expire-date-long", plain, hello, at(far, "2 January 2006")).timed(),
		of("expire-lower", plain, hello, at(far, "2 ")+"january"+far.Format(" 2006")).timed(),
		of("expire-comma", plain, hello, at(far, "Jan 2, 2006")).timed(),
		of("expire-unix", plain, hello, fmt.Sprintf("check Expiration := %d", soon.Unix())).timed(),
		of("expire-iso", plain, hello, at(far, "2006-01-02")).timed(),
		of("expire-iso-time", plain, hello, at(soon, "2006-01-02 15:04:05")).timed(),
		of("expire-iso-t", plain, hello, at(soon, "2006-01-02T15:04:05")).timed(),
		of("expire-nonsense", plain, hello, "check Expiration := soon"),
		of("expire-quoted", plain, hello, "check Expiration := \""+soon.Format("2 Jan 2006 15:04:05")+"\"").timed(),
		of("expire-hour-only", plain, hello, at(soon, "2 Jan 2006 15")).timed(),
		of("expired", plain, hello, at(past, "2 Jan 2006 15:04:05")),
		of("expired-date", plain, hello, at(now.AddDate(0, 0, -1), "2 Jan 2006")),
		of("expired-today", plain, hello, at(now, "2 Jan 2006")),
		of("expired-wrong", plain, hello, at(past, "2 Jan 2006 15:04:05")).ask("pap wrong"),
		of("expired-equal", plain, hello, "check Expiration == "+past.Format("2 Jan 2006 15:04:05")),
		of("expire-equal", plain, hello, "check Expiration == "+soon.Format("2 Jan 2006 15:04:05")).timed(),
		of("expire-greater", plain, hello, "check Expiration > "+soon.Format("2 Jan 2006 15:04:05")).timed(),
		of("expire-group", plain, hello, "member tg1 1", "gcheck tg1 Expiration := "+soon.Format("2 Jan 2006 15:04:05")).timed(),
		of("expired-group", plain, hello, "member tg2 1", "gcheck tg2 Expiration := "+past.Format("2 Jan 2006 15:04:05")),
		of("expire-timeout-less", plain, "reply Session-Timeout = 60", at(soon, "2 Jan 2006 15:04:05")),
		of("expire-timeout-more", plain, "reply Session-Timeout = 999999", at(soon, "2 Jan 2006 15:04:05")).timed(),
		of("expire-2036", plain, hello, "check Expiration := 1 Jan 2036 00:00:00").timed(),

		of("hours-any", plain, hello, "check Login-Time := Any"),
		of("hours-all", plain, hello, "check Login-Time := Al0000-2400"),
		of("hours-now", plain, hello, "check Login-Time := Al"+within).minutes(),
		of("hours-not-now", plain, hello, "check Login-Time := Al"+outside),
		of("hours-not-now-wrong", plain, hello, "check Login-Time := Al"+outside).ask("pap wrong"),
		of("hours-overnight", plain, hello, "check Login-Time := Al"+overnight).minutes(),
		of("hours-today", plain, hello, "check Login-Time := "+day(now)).minutes(),
		of("hours-not-today", plain, hello, "check Login-Time := "+day(now.AddDate(0, 0, 2))),
		of("hours-several", plain, hello, "check Login-Time := "+day(now.AddDate(0, 0, 2))+","+day(now)).minutes(),
		of("hours-bar", plain, hello, "check Login-Time := "+day(now.AddDate(0, 0, 2))+"|"+day(now)).minutes(),
		of("hours-range", plain, hello, "check Login-Time := "+day(now)+"-"+day(now.AddDate(0, 0, 1))).minutes(),
		of("hours-nonsense", plain, hello, "check Login-Time := whenever"),
		of("hours-equal", plain, hello, "check Login-Time == Any"),
		of("hours-timeout-less", plain, "reply Session-Timeout = 60", "check Login-Time := Al"+within),
		of("hours-timeout-more", plain, "reply Session-Timeout = 999999", "check Login-Time := Al"+within).minutes(),
		of("hours-and-expiration", plain, hello, "check Login-Time := Al"+within, at(now.Add(30*time.Minute), "2 Jan 2006 15:04:05")).minutes(),
		of("hours-then-expiration", plain, hello, "check Login-Time := Al"+within, at(far, "2 Jan 2006")).minutes(),
		of("current-time", plain, hello, "check Current-Time == Al"+within),
		of("current-time-not", plain, hello, "check Current-Time == Al"+outside),
		of("time-of-day", plain, hello, "check Time-Of-Day >= 00:00:00"),
		of("time-of-day-not", plain, hello, "check Time-Of-Day > 23:59:59"),
	}
	return list
}
