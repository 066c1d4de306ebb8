package radpool

import (
	"sync"

	"github.com/radpool/radpool/internal/udp"
)

// keptReplies is how many octets of memory for replies an outbox keeps from batch
// to batch: plenty for 4,096 replies of the usual size, so that one batch of huge
// ones does not hold 16 MiB for ever.
const keptReplies = 1 << 20

// outbox holds replies until they are sent together, those to one socket with one
// system call. It has one writer; the lock is for the watchdog, which sends what a
// writer that is held up has left.
type outbox struct {
	// reads, in the outbox of a reader, is the listener that it reads. Replies to
	// others do not wait: their readers may meanwhile take a new request for the one
	// that is answered.
	reads *listener

	mu       sync.Mutex
	to       *listener // whose replies these are
	messages []udp.Message
	memory   []byte // the replies, one after the other
}

// add puts a reply in, which the function appends to the memory that it is given.
// One that it does not want sent it takes off again, and returns false.
func (o *outbox) add(l *listener, m udp.Message, put func(memory []byte) ([]byte, bool)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.to != l {
		o.sendLocked()
		o.to = l
	}
	start := len(o.memory)
	memory, ok := put(o.memory)
	if !ok {
		return
	}
	o.memory = memory
	// memory may move as it grows; what is queued keeps the old one, which is not
	// written again.
	m.Buf = memory[start:len(memory):len(memory)]
	m.N = len(m.Buf)
	o.messages = append(o.messages, m)
	if o.reads != nil && o.reads != l {
		o.sendLocked()
	}
}

// send sends what is in it.
func (o *outbox) send() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sendLocked()
}

// sendLocked holds the lock over the system call, which waits only while the
// socket's send buffer is full.
func (o *outbox) sendLocked() {
	if len(o.messages) > 0 {
		o.to.send(o.messages)
	}
	o.reset()
}

// reset empties it. Called with the lock held.
func (o *outbox) reset() {
	clear(o.messages)
	o.messages = o.messages[:0]
	if cap(o.memory) > keptReplies {
		o.memory = nil
	}
	o.memory = o.memory[:0]
}
