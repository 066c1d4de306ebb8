package radclient_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/radpool/radpool/radclient"
)

// However a Config is printed, no secret is shown.
func TestSecretsAreNotPrinted(t *testing.T) {
	config := radclient.Config{Servers: []radclient.Server{{Addr: netip.MustParseAddrPort("192.0.2.1:1812"), Secret: []byte("s3cret")}}}
	raw := strings.Trim(fmt.Sprint(config.Servers[0].Secret), "[]")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		text := fmt.Sprintf(verb, config)
		if strings.Contains(text, "s3cret") || strings.Contains(text, raw) || strings.Contains(text, "733363726574") || strings.Contains(text, "0x73, 0x33") {
			t.Errorf("%s: %s", verb, text)
		}
	}
	if got := fmt.Sprint(config.Servers); got != "[192.0.2.1:1812]" {
		t.Error(got)
	}
}
