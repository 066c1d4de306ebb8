package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/eap"
)

// eapFlag is a billing.EAPConfig as a flag: the names of methods, or "off".
type eapFlag billing.EAPConfig

var eapMethods = map[string]eap.Method{"mschapv2": eap.MSCHAPv2{}, "md5": eap.MD5{}}

// MarshalText returns what UnmarshalText reads.
func (e eapFlag) MarshalText() ([]byte, error) {
	if e.Off {
		return []byte("off"), nil
	}
	var names []string
	for _, m := range e.Methods {
		names = append(names, strings.ToLower(m.Type().String()))
	}
	return []byte(strings.Join(names, ",")), nil
}

// UnmarshalText reads names with commas between them.
func (e *eapFlag) UnmarshalText(text []byte) error {
	*e = eapFlag{}
	if string(text) == "off" {
		e.Off = true
		return nil
	}
	seen := make(map[string]bool)
	for name := range strings.SplitSeq(string(text), ",") {
		m, ok := eapMethods[name]
		switch {
		case !ok && (name == "tls" || name == "ttls" || name == "peap"):
			return errors.New("EAP methods with TLS are not offered: mschapv2 and md5 are")
		case !ok:
			return fmt.Errorf("%.32q is no method of EAP: mschapv2, md5 and off are known", name)
		case seen[name]:
			return fmt.Errorf("%s stands twice", name)
		}
		seen[name] = true
		e.Methods = append(e.Methods, m)
	}
	return nil
}
