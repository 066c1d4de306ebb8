package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	"github.com/go-ldap/ldap/v3"

	"github.com/radpool/radpool/examples/serving"
)

// errRefused marks that the directory does not let this program in, or does not show
// it what it needs: somebody has to change the configuration.
var errRefused = errors.New("the directory refuses")

// dial returns a connection that is bound as the service, or that is bound as nobody.
func (d *directory) dial(ctx context.Context, bind bool) (conn, error) {
	dialer := &net.Dialer{Timeout: d.Timeout}
	if deadline, ok := ctx.Deadline(); ok {
		dialer.Deadline = deadline
	}
	c, err := ldap.DialURL(d.url, ldap.DialWithDialer(dialer), ldap.DialWithTLSConfig(d.TLS))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.url, err)
	}
	c.SetTimeout(d.Timeout)
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	if d.startTLS {
		err = c.StartTLS(d.TLS)
	}
	if err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("%s: StartTLS: %w", d.url, err)
	}
	if bind && d.bindDN != "" {
		if err := c.Bind(d.bindDN, d.password); err != nil {
			_ = c.Close()
			return nil, d.bindError(err)
		}
	}
	return c, nil
}

// bindError says what is wrong when the service may not bind.
func (d *directory) bindError(err error) error {
	if ldap.IsErrorAnyOf(err, ldap.LDAPResultInvalidCredentials, ldap.LDAPResultInvalidDNSyntax, ldap.LDAPResultNoSuchObject,
		ldap.LDAPResultInappropriateAuthentication, ldap.LDAPResultUnwillingToPerform, ldap.LDAPResultConfidentialityRequired, ldap.ErrorEmptyPassword) {
		return fmt.Errorf("%s: %w to bind as -bind-dn %q: wrong name, wrong password, or a connection that is not encrypted: %w", d.url, errRefused, d.bindDN, err)
	}
	return fmt.Errorf("%s: bind as %q: %w", d.url, d.bindDN, err)
}

// readURL checks the URL, for whose host the certificate must be.
func (o *options) readURL() error {
	u, err := url.Parse(o.url)
	if err != nil {
		return fmt.Errorf("-url: %w", err)
	}
	switch u.Scheme {
	case "ldap", "ldaps", "ldapi":
	default:
		return fmt.Errorf("-url %s: must begin with ldap://, ldaps:// or ldapi://", o.url)
	}
	o.TLS.ServerName = u.Hostname()
	return nil
}

// inTheClear reports whether passwords would go over a network as they are.
func inTheClear(address string, startTLS bool) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "ldap" || startTLS {
		return false
	}
	return !serving.ThisMachine(u.Hostname())
}
