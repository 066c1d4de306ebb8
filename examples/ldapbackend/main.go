// Command ldapbackend is a RADIUS server whose subscribers are in an LDAP directory,
// such as OpenLDAP: to run as it is, or to copy from. Accounting goes where it can be
// kept: a directory is made for reading, so records are written to a database (compose.go
// is how two back ends become one).
//
//	ldapbackend -url ldap://127.0.0.1 -bind-dn cn=radius,dc=example,dc=org -password-file pw -base ou=people,dc=example,dc=org
//	ldapbackend -url ldaps://ldap.example.org -ca ca.pem ...       encrypted
//	ldapbackend -url ldap://ldap.example.org -start-tls ...        encrypted as well
//	ldapbackend -mode bind ...                                     the directory itself checks passwords
//	ldapbackend -clients /etc/freeradius/3.0/clients.conf ...      serve those NASes, instead of this machine alone
//
// # Passwords
//
// With -mode hash (the default) it reads userPassword and compares: {SSHA} and all other
// forms that billing.ParsePasswordWithHeader knows answer PAP; one in cleartext answers
// CHAP and MS-CHAP as well. All requests that wait are one search. The -bind-dn must be allowed
// to read userPassword.
//
// With -mode bind it binds as the subscriber with what they gave. That works with every
// directory, and with PAP only. All requests that wait are one search, and a bind each, on
// connections that are for binds alone: so none is ever bound anew to search.
// They are answered when the last of these binds is: one that the directory is slow to answer
// holds up those of the same batch, for -timeout at most, or twice that if the connection had
// to be made anew.
//
// # The reply
//
// Each -map ATTRIBUTE=NAME puts the values of an attribute of the entry into the reply,
// under the name of a RADIUS attribute. Without -map it is this:
//
//	radiusFramedIPAddress=Framed-IP-Address    radiusFramedIPNetmask=Framed-IP-Netmask
//	radiusFramedRoute=Framed-Route             radiusFilterId=Filter-Id
//	radiusSessionTimeout=Session-Timeout       radiusIdleTimeout=Idle-Timeout
//	radiusServiceType=Service-Type             radiusFramedProtocol=Framed-Protocol
//	radiusReplyMessage=Reply-Message           radiusClass=Class
//
// The values of -pairs (radiusReplyAttribute) are whole pairs, as rlm_ldap of FreeRADIUS
// has them: "Mikrotik-Rate-Limit := 10M/10M".
//
// # When the directory is away
//
// Nobody gets an answer, so that a NAS asks another server; nobody is let in, or rejected,
// for it. Connections are made anew when it is back. What the directory refuses at start
// (the name or password of -bind-dn, a -base that is not there) ends the program with a
// message; later it is logged.
//
// Exit status 0: ended by a signal; 1: it could not serve; 2: wrong flags.
package main

import (
	"context"
	"errors"
	"io"

	"go.uber.org/zap"

	"github.com/radpool/radpool/billing"
	"github.com/radpool/radpool/billing/sqlbilling"
	_ "github.com/radpool/radpool/billing/sqlbilling/mysql"
	_ "github.com/radpool/radpool/billing/sqlbilling/postgres"
	_ "github.com/radpool/radpool/billing/sqlbilling/sqlite"
	"github.com/radpool/radpool/examples/serving"
)

func main() {
	serving.Program[*options]{Name: "ldapbackend", Parse: parseFlags, Serve: serve}.Main()
}

// backend is what is open: a billing.Handler with both halves.
type backend struct {
	billing.Handler
	close func() error
}

// open opens both halves. A directory that is away is no reason not to serve: it may
// come later. One that refuses is.
func open(ctx context.Context, o *options, log *zap.Logger) (*backend, error) {
	var (
		subscribers interface {
			authorizer
			close()
		}
		dir *directory
	)
	if o.mode == modeBind {
		b := newBinder(o.settings)
		subscribers, dir = b, b.dir
	} else {
		dir = newDirectory(o.settings)
		subscribers = dir
	}
	if inTheClear(o.url, o.startTLS) {
		log.Warn("passwords go over the network as they are: use ldaps:// or -start-tls", zap.String("url", o.url))
	}
	check, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	if err := dir.check(check); errors.Is(err, errRefused) {
		subscribers.close()
		return nil, err
	} else if err != nil {
		log.Warn("the directory is away: nobody gets an answer until it is there", zap.Error(err))
	}
	accounting, err := sqlbilling.Open(ctx, o.db, sqlbilling.Options{Logger: log})
	if err != nil {
		subscribers.close()
		return nil, err
	}
	closeBoth := func() error {
		subscribers.close()
		return accounting.Close()
	}
	return &backend{compose(subscribers, accounting), closeBoth}, nil
}

func serve(ctx context.Context, o *options, stdout io.Writer, log *zap.Logger) (err error) {
	b, err := open(ctx, o, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	o.served.Logger = log
	return serving.Run(ctx, o.served, b.Handler, stdout)
}
