package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/billingtest"
)

const goodUsers = "\ufeffname,password,Session-Timeout,Framed-Route,Framed-Route,Tunnel-Password,Simultaneous-Use\r\n" +
	"alice,wonderland,3600,10.1.0.0/16,10.2.0.0/16,x,2\r\n" +
	"bob,{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=,,,,,\r\n" +
	"\"o'brien, \"\"jr.\"\"\",\"a,b\",,,,,\r\n" +
	"nobody,,,,,,\r\n"

// write writes the users file of the test.
func writeUsers(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestUsers(t *testing.T) {
	users, err := readUsers(strings.NewReader(goodUsers))
	if err != nil {
		t.Fatal(err)
	}
	if g := users["alice"]; len(g.Reply) != 3 || len(g.Hidden) != 1 || g.SimultaneousUse != 2 || len(users) != 4 {
		t.Errorf("%+v, of %d users", g, len(users))
	}
	for name, password := range map[string]string{"alice": "wonderland", "bob": "password", `o'brien, "jr."`: "a,b"} {
		g := users[name]
		if g.Password.VerifyPAP([]byte(password)) != billing.ReasonNone || g.Password.VerifyPAP([]byte("wrong")) == billing.ReasonNone {
			t.Errorf("%s: the password is not right", name)
		}
	}
	memory := billing.NewMemory(0)
	memory.Put("nobody", users["nobody"])
	for _, password := range []string{"", "x"} {
		if r := billingtest.Run(t, &billing.Processor{Handler: memory}, billingtest.PAP("nobody", password)); !r.Rejected() {
			t.Errorf("an empty password, and %q was given: %v", password, r)
		}
	}
}

// What is wrong is told with line and column, and without what stands there.
func TestWrongUsers(t *testing.T) {
	const header = "name,password,Session-Timeout,Simultaneous-Use\n"
	for content, tell := range map[string]string{
		"":                             "line 1: ",
		"alice,hunter2\n":              "line 1: ",
		"password,name\nhunter2,bob\n": "line 1: ",
		"name,password,Sesion-Timeout\nalice,hunter2,\n":                 "line 2: column Sesion-Timeout: ",
		"name,password,Cleartext-Password\nalice,x,hunter2\n":            "line 2: column Cleartext-Password: ",
		header + "alice,hunter2,3600,\nbob,hunter2\n":                    "line 3: wrong number of fields",
		header + "alice,hunter2,3600,,\n":                                "line 2: wrong number of fields",
		header + "alice,hunter2,an hour hunter2,\n":                      "line 2: column Session-Timeout: ",
		header + "alice,x,,\n\nbob,\"two\nlines\",,\ncarol,x,hunter2,\n": "line 6: column Session-Timeout: ",
		header + "alice,hunter2,,none of hunter2\n":                      "line 2: column Simultaneous-Use: ",
		header + "alice,hunter2,,0\n":                                    "line 2: column Simultaneous-Use: ",
		header + "alice,{NOHASH}hunter2,,\n":                             "line 2: column password: ",
		header + "alice,{MD5}hunter2,,\n":                                "line 2: column password: ",
		header + ",hunter2,,\n":                                          "line 2: column name: ",
		header + "alice,hunter2,,\nbob,x,,\nalice,hunter2,,\n":           "line 4: column name: ",
		header + "alice,hun\"ter2,,\n":                                   "line 2, column 10",
		header + "alice,\"hunter2,,\n":                                   "line 2",
	} {
		users, err := readUsers(strings.NewReader(content))
		if err == nil || users != nil || !strings.Contains(err.Error(), tell) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v; %s must be told", content, err, tell)
		}
	}
}

// The file is read again when it has changed, and when it is asked for; a wrong one changes nothing, and
// is told once.
func TestWatch(t *testing.T) {
	name := filepath.Join(t.TempDir(), "users.csv")
	writeUsers(t, name, "name,password\nalice,wonderland\nbob,builder\n")
	synctest.Test(t, func(t *testing.T) {
		logs, seen := observer.New(zapcore.WarnLevel)
		u := &userFile{name: name, memory: billing.NewMemory(0), log: zap.New(logs)}
		if err := u.load(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		hup := make(chan os.Signal, 1)
		go u.watch(ctx, hup)
		expect := func(when string, passwords map[string]string, errors int) {
			t.Helper()
			synctest.Wait()
			for user, password := range passwords {
				r := billingtest.Run(t, &billing.Processor{Handler: u.memory}, billingtest.PAP(user, password))
				if r.Accepted() != (password != "") {
					t.Errorf("%s: %s with password %q: %v", when, user, password, r)
				}
			}
			if seen.Len() != errors {
				t.Errorf("%s: %d errors, must be %d: %v", when, seen.Len(), errors, seen.All())
			}
		}
		expect("at start", map[string]string{"alice": "wonderland", "bob": "builder", "carol": ""}, 0)
		steps := []struct {
			content   string
			passwords map[string]string
			errors    int
		}{
			{"name,password\nalice,looking-glass\ncarol,c\n", map[string]string{"alice": "looking-glass", "bob": "", "carol": "c"}, 0},
			{"name,password\nalice,looking-glass\nbob\n", map[string]string{"alice": "looking-glass", "bob": "", "carol": "c"}, 1},
			{"", map[string]string{"alice": "looking-glass"}, 2}, // removed
			{"name,password\nbob,b\n", map[string]string{"alice": "", "bob": "b"}, 2},
		}
		for i, step := range steps {
			if step.content == "" {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			} else {
				writeUsers(t, name, step.content)
			}
			time.Sleep(10 * time.Second) // several looks at it
			expect(fmt.Sprint("step ", i), step.passwords, step.errors)
		}
		// The same size and time, which only a signal gets read.
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		writeUsers(t, name, "name,password\nbob,c\n")
		if err := os.Chtimes(name, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		expect("unchanged, as it seems", map[string]string{"bob": "b"}, 2)
		hup <- os.Interrupt
		expect("after a signal", map[string]string{"bob": "c"}, 2)
		if text := fmt.Sprint(seen.All()[0].ContextMap()["error"]); !strings.Contains(text, name+": ") || !strings.Contains(text, "line 3") {
			t.Errorf("told is %s", text)
		}
	})
}

func FuzzUsers(f *testing.F) {
	f.Add(goodUsers)
	f.Add("name,password,Simultaneous-Use\na,{SSHA}x,1\n\"a\nb\",c,\n")
	f.Fuzz(func(t *testing.T, content string) {
		users, err := readUsers(strings.NewReader(content))
		if (users == nil) != (err != nil) {
			t.Errorf("%d users, and the error %v", len(users), err)
		}
		if _, empty := users[""]; empty {
			t.Error("a user without a name")
		}
	})
}
