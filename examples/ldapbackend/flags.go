package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-ldap/ldap/v3"

	"github.com/radpool/radpool/billing/attrs"
	"github.com/radpool/radpool/examples/serving"
)

// Values of -mode.
const (
	modeHash = "hash"
	modeBind = "bind"
)

// defaultMap is what goes into the reply without -map.
const defaultMap = "radiusFramedIPAddress=Framed-IP-Address radiusFramedIPNetmask=Framed-IP-Netmask " +
	"radiusFramedRoute=Framed-Route radiusFilterId=Filter-Id radiusSessionTimeout=Session-Timeout " +
	"radiusIdleTimeout=Idle-Timeout radiusServiceType=Service-Type radiusFramedProtocol=Framed-Protocol " +
	"radiusReplyMessage=Reply-Message radiusClass=Class"

// options is what the flags say.
type options struct {
	settings
	mode   string
	db     string
	served serving.Options
}

func parseFlags(args []string, stderr io.Writer) (*options, error) {
	o := &options{served: serving.Options{Name: "ldapbackend"}}
	var passwordFile string
	f := o.served.Flags(stderr)
	f.StringVar(&o.url, "url", "ldap://127.0.0.1", "`URL` of the directory: ldap://, ldaps:// or ldapi://")
	f.BoolVar(&o.startTLS, "start-tls", false, "encrypt a connection of ldap:// before anything else is said")
	f.StringVar(&o.bindDN, "bind-dn", "", "`name` to bind as (default: anonymous)")
	f.StringVar(&passwordFile, "password-file", "", "`FILE` whose first line is the password of -bind-dn")
	f.StringVar(&o.base, "base", "", "`name` of the entry under which the subscribers are; required")
	f.StringVar(&o.filter, "filter", "(uid=%u)", "`filter` that finds a subscriber; %u is the User-Name, escaped")
	f.StringVar(&o.nameAttr, "name-attr", "uid", "`attribute` that has the User-Name in an entry")
	f.StringVar(&o.passwordAttr, "password-attr", "userPassword", "`attribute` that has the password, for -mode hash")
	f.StringVar(&o.accessAttr, "access-attr", "", "`attribute` that an entry must have, and not with the value false, to log in (default: none)")
	f.StringVar(&o.pairsAttr, "pairs", "radiusReplyAttribute", "`attribute` whose values are NAME := VALUE for the reply; empty: none")
	f.Func("map", "`ATTRIBUTE=NAME` of the directory and of RADIUS, for the reply; may be given several times (default: see the documentation)", o.addMap)
	f.StringVar(&o.mode, "mode", modeHash, "who checks passwords: `hash` (this program, with what it reads) or bind (the directory, over as many connections again)")
	o.Upstream.Flags(f, "the directory", 32)
	f.DurationVar(&o.idle, "idle", time.Minute, "close connections that were not used for so long")
	f.StringVar(&o.db, "db", "sqlite:radacct.db", "`database` for accounting, as billingd has it")
	if err := serving.Parse(f, args); err != nil {
		return nil, err
	}
	o.served.Workers = o.Conns // more would only wait for a connection
	err := o.Check()
	if err == nil {
		err = o.readURL()
	}
	if err != nil {
		return nil, err
	}
	if o.password, err = serving.FirstLine(passwordFile); err != nil {
		return nil, fmt.Errorf("-password-file: %w", err)
	}
	if o.mappings == nil {
		for one := range strings.FieldsSeq(defaultMap) {
			if err := o.addMap(one); err != nil {
				return nil, err
			}
		}
	}
	return o, o.validate()
}

func (o *options) validate() error {
	var errs []error
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	wrong(o.mode != modeHash && o.mode != modeBind, "-mode %s: must be hash or bind", o.mode)
	wrong(o.base == "", "-base: required, such as ou=people,dc=example,dc=org")
	wrong(o.idle <= 0, "-idle %v: must be more than 0", o.idle)
	wrong(o.nameAttr == "", "-name-attr: required")
	wrong(o.bindDN != "" && o.password == "", "-bind-dn: needs -password-file, since a bind without a password is one as nobody")
	wrong(o.startTLS && !strings.HasPrefix(o.url, "ldap://"), "-start-tls: only with ldap://")
	wrong(!strings.Contains(o.filter, "%u"), "-filter %s: there is no %%u for the User-Name in it", o.filter)
	_, err := ldap.CompileFilter(strings.ReplaceAll(o.filter, "%u", "x"))
	wrong(err != nil, "-filter %s: %w", o.filter, err)
	return errors.Join(errs...)
}

// addMap takes one -map.
func (o *options) addMap(text string) error {
	from, name, ok := strings.Cut(text, "=")
	if !ok || from == "" {
		return errors.New("must be ATTRIBUTE=NAME, such as radiusFramedIPAddress=Framed-IP-Address")
	}
	to, err := attrs.Find(name)
	if err != nil {
		return err
	}
	o.mappings = append(o.mappings, mapping{from, to})
	return nil
}
