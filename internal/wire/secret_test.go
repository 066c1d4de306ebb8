package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/radpool/radpool/internal/wire"
)

func TestSecretIsNeverShown(t *testing.T) {
	const key = "hunter2hunter2"
	secret := wire.NewSecret([]byte(key))
	type holder struct {
		hidden  wire.Secret
		pointer *wire.Secret
		Shown   *wire.Secret
	}
	h := holder{hidden: *secret, pointer: secret, Shown: secret}

	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%p", "%c"} {
		for _, v := range []any{secret, *secret, h, &h, []*wire.Secret{secret}, map[string]wire.Secret{"k": *secret}} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
	}
	for _, v := range []any{secret, *secret, h, map[string]any{"secret": secret}} {
		j, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(j)
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
	}
	text := out.String()
	hex := fmt.Sprintf("%x", key)
	decimal := strings.Trim(fmt.Sprint([]byte(key)[:4]), "[]")
	for _, leak := range []string{key, hex, strings.ToUpper(hex), decimal, "0x68, 0x75"} {
		if strings.Contains(text, leak) {
			t.Errorf("%q is shown", leak)
		}
	}
	if !strings.Contains(text, "[secret]") {
		t.Error("no placeholder is shown")
	}
	if secret.String() != "[secret]" || secret.GoString() != "[secret]" {
		t.Errorf("%s, %#v", secret.String(), secret.GoString())
	}
}

func TestSecretIsACopy(t *testing.T) {
	key := []byte(testSecret)
	secret := wire.NewSecret(key)
	clear(key)
	b := sign(packet(4, 1, [16]byte{}, ma0), testSecret)
	if !wire.Verify(b, mustParse(t, b), secret) {
		t.Error("the secret changed with the caller's key")
	}
	if got := secret.Bytes(); string(got) != testSecret || cap(got) != len(got) {
		t.Errorf("Bytes: %d octets, capacity %d", len(got), cap(got))
	}
	if secret.Empty() {
		t.Error("empty")
	}
}

func TestEmptySecretIsEmpty(t *testing.T) {
	for _, secret := range []*wire.Secret{nil, {}, wire.NewSecret(nil)} {
		if !secret.Empty() || secret.Bytes() != nil {
			t.Error("not empty")
		}
	}
}
