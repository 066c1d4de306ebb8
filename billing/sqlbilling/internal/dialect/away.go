package dialect

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
)

// Unreachable reports whether err says that a server could not be reached, which may
// be otherwise soon: nobody listens there, no answer in time, no way to it, or its name
// is not known by now, as where it starts after this.
func Unreachable(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, os.ErrPermission) && !errors.Is(err, syscall.EPERM) {
		return false // a firewall says EPERM, a socket that is not for us EACCES
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		_, invalid := errors.AsType[*net.AddrError](err)
		_, network := errors.AsType[net.UnknownNetworkError](err)
		return !invalid && !network
	}
	_, name := errors.AsType[*net.DNSError](err)
	return name || os.IsTimeout(err) || errors.Is(err, context.DeadlineExceeded)
}
