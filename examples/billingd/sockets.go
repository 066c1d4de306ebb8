package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"
	"go.uber.org/zap"

	"github.com/radpool/radpool/radpool"
)

// socket is one listening socket, with what it serves.
type socket struct {
	conn     net.PacketConn
	services radpool.Services
}

type sockets []socket

// openSockets takes the sockets that the service manager has opened, and opens the others.
func openSockets(o *options, log *zap.Logger) (sockets, *web, error) {
	all, page, err := inherited(o, activation.Files(true))
	if err != nil {
		return nil, nil, err
	}
	for _, s := range all {
		log.Info("serving a socket of the service manager", zap.Stringer("addr", s.conn.LocalAddr()))
	}
	opened, err := listen(o, all)
	all = append(all, opened...)
	if err == nil {
		var w *web
		if w, err = listenHTTP(o, page, log); err == nil {
			return all, w, nil
		}
	}
	all.close()
	if page != nil {
		_ = page.Close() // nobody has been served on it
	}
	return nil, nil, err
}

// listen opens the sockets for what those that there are already do not serve.
func listen(o *options, there sockets) (sockets, error) {
	var all sockets
	for _, w := range o.listen {
		for _, s := range there {
			w.services &^= s.services
		}
		if w.services == 0 {
			continue
		}
		conns, err := radpool.Listen(w.network, w.addr, o.config.Readers)
		if err != nil {
			all.close()
			if errors.Is(err, syscall.EADDRINUSE) {
				return nil, fmt.Errorf("%s %s: the port is taken: is another RADIUS server running?", w.from, w.addr)
			}
			return nil, fmt.Errorf("%s %s: %w", w.from, w.addr, err)
		}
		for _, conn := range conns {
			all = append(all, socket{conn, w.services})
		}
	}
	return all, nil
}

// socketNames are the names that the service manager may give to sockets
// (FileDescriptorName= of systemd.socket), and what those serve.
var socketNames = map[string]radpool.Services{
	"auth": radpool.Auth, "acct": radpool.Acct, "auth+acct": radpool.Auth | radpool.Acct, "status": radpool.Status,
}

// httpName is the name of the socket of the status page, which is one of TCP.
const httpName = "http"

// inherited makes sockets of the files of the service manager, which are closed. One
// without a name that says what it serves does that which is wanted at its port.
func inherited(o *options, files []*os.File) (all sockets, page net.Listener, err error) {
	for _, f := range files {
		if err == nil {
			err = all.take(o, f, &page)
		}
		_ = f.Close() // the sockets have their own copies
	}
	if err == nil {
		return all, page, nil
	}
	all.close()
	if page != nil {
		_ = page.Close() // nobody has been served on it
	}
	return nil, nil, err
}

func (ss *sockets) take(o *options, f *os.File, page *net.Listener) error {
	name := f.Name()
	if name == httpName {
		l, err := net.FileListener(f)
		switch {
		case err != nil:
			return fmt.Errorf("the socket %q of the service manager is none that listens on TCP: %w", name, err)
		case *page != nil:
			return errors.Join(fmt.Errorf("there are several sockets %q of the service manager: one serves the page", name), l.Close())
		}
		*page = l
		return nil
	}
	conn, err := net.FilePacketConn(f)
	if err != nil {
		return fmt.Errorf("the socket %q of the service manager is none of UDP (ListenDatagram=): %w", name, err)
	}
	addr, ok := conn.LocalAddr().(*net.UDPAddr)
	if !ok {
		return errors.Join(fmt.Errorf("the socket %q of the service manager is none of UDP (ListenDatagram=)", name), conn.Close())
	}
	services := socketNames[name]
	if services == 0 {
		for _, w := range o.listen {
			if _, port, err := net.SplitHostPort(w.addr); err == nil && port == fmt.Sprint(addr.Port) {
				services |= w.services
			}
		}
	}
	if services == 0 {
		names := []string{httpName}
		for n := range socketNames {
			names = append(names, n)
		}
		slices.Sort(names)
		return errors.Join(fmt.Errorf("the socket %q of the service manager, %v, serves nothing: give it a name (FileDescriptorName=: %s) or a port of -auth, -acct, -status or listen { }",
			name, addr, strings.Join(names, ", ")), conn.Close())
	}
	*ss = append(*ss, socket{conn, services})
	return nil
}

func (ss sockets) close() {
	for _, s := range ss {
		_ = s.conn.Close() // nothing was sent on it, or the server has closed it
	}
}

// addrs are the addresses that serve s, with commas between them and with the ports that the
// system chose where a flag left it open; "none" where there is none.
func (ss sockets) addrs(s radpool.Services) string {
	var list []string
	for _, sock := range ss {
		addr := sock.conn.LocalAddr().String()
		if sock.services&s != 0 && !slices.Contains(list, addr) { // -sockets opens an address more than once
			list = append(list, addr)
		}
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ",")
}

// ready is what the line says that tells that billingd is ready.
func (ss sockets) ready(db string) string {
	line := fmt.Sprintf("billingd ready auth=%s acct=%s db=%s", ss.addrs(radpool.Auth), ss.addrs(radpool.Acct), db)
	if status := ss.addrs(radpool.Status); status != "none" {
		line += " status=" + status
	}
	return line
}
