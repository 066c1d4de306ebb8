package radpool

import (
	"sync"
	"sync/atomic"

	"github.com/radpool/radpool/internal/udp"
)

// sendFrom is how many replies are worth a system call of their own.
const sendFrom = 32

// replies are what workers have answered, and nobody has sent yet. To send them one
// by one costs more than quick handlers do. So a worker leaves its replies here, and
// sends what is here
//
//   - when there are sendFrom of them,
//   - before it runs another handler, and before it waits for one to run, unless
//     another worker was woken and is on its way to the queue (see
//     PoolConfig.alone): then it is for that one, by the same rule,
//   - when it ends.
//
// So replies wait for the time that it takes to wake a worker, and never for a
// handler to come back.
type replies struct {
	waiting atomic.Int32 // len(messages)

	mu sync.Mutex
	letters
}

// letters are messages, and the listeners that they go out by.
type letters struct {
	messages []udp.Message
	from     []*listener
	memory   []byte // the messages' payloads, one after the other
}

// post leaves the replies of a worker that has run its handlers.
func (e *engine) post(ws *workerState) {
	if e.replies.leave(&ws.own) >= sendFrom {
		e.sendReplies(ws)
	}
}

// sendReplies sends what is there, with memory of ws.
func (e *engine) sendReplies(ws *workerState) {
	r := &e.replies
	if r.waiting.Load() == 0 {
		return
	}
	r.mu.Lock()
	r.letters, ws.letters = ws.letters, r.letters
	r.waiting.Store(0)
	r.mu.Unlock()
	ws.letters.send()
}

// leave moves what is in o, and returns how much there is then.
func (r *replies) leave(o *outbox) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.messages) == 0 {
		return 0
	}
	r.mu.Lock()
	for i := range o.messages {
		r.add(o.to, o.messages[i])
	}
	n := len(r.messages)
	r.waiting.Store(int32(n))
	r.mu.Unlock()
	o.reset()
	return n
}

func (s *letters) add(l *listener, m udp.Message) {
	start := len(s.memory)
	s.memory = append(s.memory, m.Buf[:m.N]...)
	m.Buf = s.memory[start:len(s.memory):len(s.memory)] // see outbox.add
	s.messages = append(s.messages, m)
	s.from = append(s.from, l)
}

// send sends them all, those of one listener together, and leaves the memory.
func (s *letters) send() {
	for rest := len(s.messages); rest > 0; {
		l, n := s.from[0], 0
		for i := range s.messages[:rest] { // those of l to the front
			if s.from[i] == l {
				s.messages[n], s.messages[i] = s.messages[i], s.messages[n]
				s.from[n], s.from[i] = s.from[i], s.from[n]
				n++
			}
		}
		l.send(s.messages[:n])
		rest -= n
		copy(s.messages, s.messages[n:n+rest])
		copy(s.from, s.from[n:n+rest])
	}
	clear(s.messages)
	clear(s.from)
	if cap(s.memory) > keptReplies {
		s.memory = nil
	}
	*s = letters{messages: s.messages[:0], from: s.from[:0], memory: s.memory[:0]}
}
