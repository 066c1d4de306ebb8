package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/radpool/radpool/examples/serving"
)

// options is what the flags say.
type options struct {
	url           string
	token         string
	sendPasswords bool

	served serving.Options
	serving.Upstream
}

func parseFlags(args []string, stderr io.Writer) (*options, error) {
	o := &options{served: serving.Options{Name: "httpbackend"}}
	var (
		tokenFile string
		plain     bool
	)
	f := o.served.Flags(stderr)
	f.StringVar(&o.url, "url", "http://127.0.0.1:8080", "`URL` of the remote; /authorize and /account are added to it")
	f.StringVar(&tokenFile, "token-file", "", "`FILE` whose first line is sent as Authorization: Bearer (default: none)")
	f.BoolVar(&plain, "plain-http", false, "allow http:// to another machine, over which passwords go as they are")
	f.BoolVar(&o.sendPasswords, "send-passwords", false, "send the password of PAP requests to the remote, which may verify it; https or this machine only")
	o.Upstream.Flags(f, "the remote", 16)
	if err := serving.Parse(f, args); err != nil {
		return nil, err
	}
	o.served.Workers = o.Conns // more would only wait for a connection
	var errs []error
	wrong := func(err error) { errs = append(errs, err) }
	wrong(checkURL(o.url, plain, o.sendPasswords))
	wrong(o.Check())
	var err error
	if o.token, err = serving.FirstLine(tokenFile); err != nil {
		wrong(fmt.Errorf("-token-file: %w", err))
	}
	wrong(checkToken(o.token))
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
	case u.Scheme == "https" || serving.ThisMachine(u.Hostname()):
		return nil
	case sendPasswords:
		return errors.New("-send-passwords: only with https://, or a remote on this machine")
	case !plain:
		return errors.New("-url: must be https://, or of this machine, since passwords are in what the remote answers; -plain-http allows it on a network that is private")
	}
	return nil
}

// checkToken says whether a token can stand in a header.
func checkToken(token string) error {
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("-token-file: the first line must be printable ASCII without blanks")
	}
	return nil
}
