package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/radpool/radpool/examples/serving"
)

// maxConns bounds -conns.
const maxConns = 1024

// options is what the flags say.
type options struct {
	url           string
	token         string
	tls           *tls.Config
	sendPasswords bool
	conns         int
	timeout       time.Duration

	served serving.Options
}

func parseFlags(args []string, stderr io.Writer) (*options, error) {
	o := &options{served: serving.Options{Name: "httpbackend"}}
	var (
		tokenFile, ca string
		plain         bool
	)
	f := o.served.Flags(stderr)
	f.StringVar(&o.url, "url", "http://127.0.0.1:8080", "`URL` of the remote; /authorize and /account are added to it")
	f.StringVar(&tokenFile, "token-file", "", "`FILE` whose first line is sent as Authorization: Bearer (default: none)")
	f.StringVar(&ca, "ca", "", "`FILE` with the certificates, in PEM, that the remote's must come from (default: those of the system)")
	f.BoolVar(&plain, "plain-http", false, "allow http:// to another machine, over which passwords go as they are")
	f.BoolVar(&o.sendPasswords, "send-passwords", false, "send the password of PAP requests to the remote, which may verify it; https or this machine only")
	f.IntVar(&o.conns, "conns", 16, "connections to the remote, and workers, at `most`")
	f.DurationVar(&o.timeout, "timeout", 3*time.Second, "how `long` the remote may take to answer")
	if err := serving.Parse(f, args); err != nil {
		return nil, err
	}
	o.served.Workers = o.conns // more would only wait for a connection
	var errs []error
	wrong := func(err error) { errs = append(errs, err) }
	wrong(checkURL(o.url, plain, o.sendPasswords))
	if o.conns < 1 || o.conns > maxConns {
		wrong(fmt.Errorf("-conns %d: must be 1 to %d", o.conns, maxConns))
	}
	if o.timeout <= 0 {
		wrong(fmt.Errorf("-timeout %v: must be more than 0", o.timeout))
	}
	var err error
	o.token, err = serving.FirstLine(tokenFile)
	wrong(of("-token-file", err))
	wrong(checkToken(o.token))
	o.tls, err = serving.TLS(ca)
	wrong(of("-ca", err))
	return o, errors.Join(errs...)
}

// checkURL says whether passwords may go there.
func checkURL(address string, plain, sendPasswords bool) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return errors.New("-url: it is not a URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("-url: must be http://HOST... or https://HOST...")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("-url: no user, ? or # may be in it: see -token-file")
	case u.Scheme == "https" || thisMachine(u.Hostname()):
		return nil
	case sendPasswords:
		return errors.New("-send-passwords: only with https://, or a remote on this machine")
	case !plain:
		return errors.New("-url: must be https://, or of this machine, since passwords are in what the remote answers; -plain-http allows it on a network that is private")
	}
	return nil
}

// thisMachine does not believe names but one, since another may lead anywhere.
func thisMachine(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// checkToken says whether a token can stand in a header.
func checkToken(token string) error {
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("-token-file: the first line must be printable ASCII without blanks")
	}
	return nil
}

// of puts the name of a flag in front of an error.
func of(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}
