package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/radpool/radpool/internal/need"
)

// supplicant has eapol_test authenticate by method, and returns what it prints. It
// compares the keys that the NAS gets with its own where the method has some.
func supplicant(t *testing.T, auth, method, user, password string, args ...string) (out string, ok bool) {
	t.Helper()
	eapol := need.Command(t, "eapol_test", "apt-get install eapoltest")
	file := filepath.Join(t.TempDir(), "peer.conf")
	network := fmt.Sprintf("network={\nkey_mgmt=IEEE8021X\neap=%s\nidentity=%q\npassword=%q\n}\n", method, user, password)
	if err := os.WriteFile(file, []byte(network), 0o600); err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(auth)
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{"-c", file, "-a", host, "-p", port, "-s", "testing123", "-t", "60"}, args...)
	if method == "MD5" {
		args = append(args, "-n") // it has no keys
	}
	b, err := exec.CommandContext(t.Context(), eapol, args...).CombinedOutput()
	return string(b), err == nil && strings.HasSuffix(strings.TrimSpace(string(b)), "SUCCESS")
}

// tail is the end of what eapol_test prints.
func tail(out string) string { return out[max(0, len(out)-2000):] }

// eapol_test of Debian (wpa_supplicant) is let in by both methods, again and again,
// and told properly that a password is wrong.
func TestEAP(t *testing.T) {
	b := start(t, "-db", "sqlite:"+filepath.Join(t.TempDir(), "radpool.db"))
	for _, method := range []string{"MD5", "MSCHAPV2"} {
		if out, ok := supplicant(t, b.auth, method, "user1", "pass1", "-r", "3"); !ok {
			t.Errorf("%s: %s", method, tail(out))
		}
		for user, password := range map[string]string{"user1": "wrong", "nobody": "pass1"} {
			out, ok := supplicant(t, b.auth, method, user, password)
			if ok || !strings.Contains(out, "code=3 (Access-Reject)") || !strings.Contains(out, "EAP: Received EAP-Failure") {
				t.Errorf("%s: %s/%s: %s", method, user, password, tail(out))
			}
			if said := strings.Contains(out, "EAP-MSCHAPV2: failure message"); said != (method == "MSCHAPV2") {
				t.Errorf("%s: %s/%s: a failure message: %t: %s", method, user, password, said, tail(out))
			}
		}
	}
	// One who wants what is not offered.
	if out, ok := supplicant(t, b.auth, "GTC", "user1", "pass1"); ok || !strings.Contains(out, "EAP: Received EAP-Failure") {
		t.Errorf("GTC: %s", tail(out))
	}
}

// The flag says what is offered.
func TestEAPFlag(t *testing.T) {
	for flag, offered := range map[string][]string{"off": nil, "md5": {"MD5"}, "mschapv2": {"MSCHAPV2"}, "md5,mschapv2": {"MD5", "MSCHAPV2"}} {
		b := start(t, "-db", "memory:10", "-eap", flag)
		for _, method := range []string{"MD5", "MSCHAPV2"} {
			if out, ok := supplicant(t, b.auth, method, "user1", "pass1"); ok != slices.Contains(offered, method) {
				t.Errorf("-eap %s: %s: %s", flag, method, tail(out))
			}
		}
	}
}

// 200 of them at the same time: a slow back end keeps each conversation open while
// others begin. (TestEAPInterleaved of package billing has all open at once.)
func TestEAPInterleaved(t *testing.T) {
	need.Command(t, "eapol_test", "apt-get install eapoltest")
	const peers = 200
	b := start(t, "-db", "memory:200", "-backend-delay", "3s", "-max-servers", "256")
	var wg sync.WaitGroup
	for i := range peers {
		wg.Go(func() {
			method := []string{"MD5", "MSCHAPV2"}[i%2]
			password := fmt.Sprint("pass", i)
			if i%10 == 9 {
				password = "wrong"
			}
			mac := fmt.Sprintf("02:00:00:00:00:%02x", i)
			out, ok := supplicant(t, b.auth, method, fmt.Sprint("user", i), password, "-M", mac)
			if ok != (password != "wrong") {
				t.Errorf("user%d by %s: %s", i, method, tail(out))
			}
		})
	}
	wg.Wait()
}
