package loadgen

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/radpool/radpool/internal/histogram"
	"github.com/radpool/radpool/internal/udp"
	"github.com/radpool/radpool/internal/wire"
)

// receiveBuffer is what is asked for, in octets, so that a server's burst of replies is not dropped here.
const receiveBuffer = 4 << 20

// linger is how long a run waits, after its last request, for the answers to what it sent more than once.
const linger = 100 * time.Millisecond

// Run makes one run, and returns when it has ended: when all is answered or given up after the last request, or after ctx
// has ended. observe, if not nil, is called with each Sample, by the goroutine of Run. The error is that a field of cfg is
// out of its bounds, that a socket could not be opened or used, or that a request cannot be made; wrong replies are none.
func Run(ctx context.Context, cfg Config, observe func(Sample)) (*Result, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r := &run{plan: newPlan(cfg, time.Now()), observe: observe, recent: new(histogram.Histogram)}
	if err := r.openSockets(); err != nil {
		return nil, err
	}
	defer r.close()
	r.start = time.Now()
	stop := context.AfterFunc(ctx, r.halt)
	defer stop()
	var lanes sync.WaitGroup
	failed := make(chan error, len(r.drivers))
	for _, d := range r.drivers {
		lanes.Go(func() {
			if err := d.drive(); err != nil {
				failed <- err
				r.halt()
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		lanes.Wait()
		close(ended)
	}()
	r.watch(ended)
	close(failed)
	var errs []error
	for err := range failed {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return nil, errs[0] // they are of one cause
	}
	return r.result(ctx.Err() != nil), nil
}

// run is a Run on its way.
type run struct {
	*plan
	start   time.Time
	drivers []*driver
	stopped atomic.Bool
	observe func(Sample)

	// Of the goroutine that watches.
	total   histogram.Histogram
	recent  *histogram.Histogram
	sum     Counters
	sampled time.Duration
	samples []Sample
}

// halt has all lanes end.
func (r *run) halt() {
	r.stopped.Store(true)
	for _, d := range r.drivers { // wake those who wait
		_ = d.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

func (r *run) now() time.Duration { return time.Since(r.start) }

func (r *run) openSockets() error {
	sources := r.Sources
	if len(sources) == 0 {
		local, err := r.route()
		if err != nil {
			return err
		}
		sources = []netip.Addr{local}
	}
	for i := range r.lanes {
		source := sources[i%len(sources)]
		conn, err := r.openSocket(source)
		if err != nil {
			r.close()
			return fmt.Errorf("a socket on %v: %w", source, err)
		}
		r.drivers = append(r.drivers, newDriver(r, newLane(r.plan, i, source), conn))
	}
	return nil
}

// route is the address that this host asks the server from.
func (r *run) route() (netip.Addr, error) {
	if r.Listen != nil {
		return r.Auth.Addr(), nil
	}
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(r.Auth))
	if err != nil {
		return netip.Addr{}, fmt.Errorf("no way to %v: %w", r.Auth, err)
	}
	local := conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	return local, conn.Close()
}

func (r *run) openSocket(source netip.Addr) (udp.Conn, error) {
	listen := r.Listen
	if listen == nil {
		listen = func(a netip.Addr) (net.PacketConn, error) {
			return net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, 0)))
		}
	}
	pc, err := listen(source)
	if err != nil {
		return nil, err
	}
	if _, err := udp.GrowReadBuffer(pc, receiveBuffer); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, errors.Join(err, pc.Close())
	}
	conn, err := udp.New(pc)
	if err != nil {
		return nil, errors.Join(err, pc.Close())
	}
	return conn, nil
}

func (r *run) close() {
	for _, d := range r.drivers {
		_ = d.conn.Close() // nothing is on its way any more
	}
}

// driver moves one lane: the only goroutine of its socket.
type driver struct {
	run  *run
	conn udp.Conn

	mu   sync.Mutex // of lane; whoever samples it takes it too
	lane *lane

	in    []udp.Message
	alarm time.Duration // the read deadline that is set; 0: none is
}

func newDriver(r *run, l *lane, conn udp.Conn) *driver {
	d := &driver{run: r, lane: l, conn: conn, in: make([]udp.Message, udp.MaxBatch)}
	for i := range d.in {
		d.in[i].Buf = make([]byte, wire.MaxPacketLength+1) // so that one that is longer is seen to be
	}
	return d
}

// drive runs the lane to its end.
func (d *driver) drive() error {
	for {
		wake, more, err := d.step()
		if err != nil {
			return err
		}
		if !more {
			return d.collect()
		}
		if err := d.wait(wake); err != nil {
			return err
		}
	}
}

// step does what is due, and sends it.
func (d *driver) step() (wake time.Duration, more bool, err error) {
	l := d.lane
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.run.now()
	length := l.length()
	if now >= length || d.run.stopped.Load() {
		if err := l.end(min(now, length)); err != nil {
			return 0, false, err
		}
	}
	if wake, more, err = l.advance(now); err != nil {
		return 0, false, err
	}
	if !l.ending {
		wake = min(wake, length)
	}
	if len(l.out) > 0 {
		sent, err := d.conn.WriteBatch(l.out)
		l.counters.Sent += uint64(sent)
		l.counters.SendErrors += uint64(len(l.out) - sent)
		clear(l.out)
		l.out = l.out[:0]
		if errors.Is(err, net.ErrClosed) {
			return 0, false, err
		}
	}
	return wake, more, nil
}

// wait reads what comes until wake.
func (d *driver) wait(wake time.Duration) error {
	// A deadline that is too early costs one turn; to set it for each batch costs more.
	if d.alarm == 0 || wake < d.alarm || d.alarm <= d.run.now() {
		if err := d.conn.SetReadDeadline(d.run.start.Add(min(wake, maxWait))); err != nil {
			return err
		}
		d.alarm = wake
		if d.run.stopped.Load() && !d.lane.ending { // what woke the socket may have been overwritten
			return nil
		}
	}
	n, err := d.conn.ReadBatch(d.in)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		d.alarm = 0
		return nil
	}
	if err != nil {
		return err
	}
	d.take(n)
	return nil
}

// maxWait keeps a deadline that is never within what a time can be.
const maxWait = 10 * MaxDuration

func (d *driver) take(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.run.now()
	for i := range d.in[:n] {
		m := &d.in[i]
		d.lane.receive(now, m.Addr, m.Buf[:m.N])
	}
}

// collect waits a little for the answers to what was sent more than once.
func (d *driver) collect() error {
	d.mu.Lock()
	c := d.lane.counters
	d.mu.Unlock()
	if c.Retransmitted+c.Duplicated == 0 {
		return nil
	}
	for {
		if err := d.conn.SetReadDeadline(time.Now().Add(linger)); err != nil {
			return err
		}
		n, err := d.conn.ReadBatch(d.in)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
		d.take(n)
	}
}
