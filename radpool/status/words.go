package status

import "github.com/radpool/radpool/radpool"

// outcomeWords are what an operator wants to know of each radpool.Outcome.
var outcomeWords = [radpool.NumOutcomes]struct {
	kind    Kind
	meaning string
	alert   string // while some come; empty: that is no reason
}{
	radpool.Malformed:     {Dropped, "not a RADIUS packet", ""},
	radpool.UnknownClient: {Dropped, "from an address that is no client", ""},
	radpool.WrongCode:     {Dropped, "a code that this socket does not serve", ""},
	radpool.Unauthentic: {
		Dropped, "an authenticator is wrong: another secret, or forged",
		"Requests are unauthentic: a client has another secret, or somebody forges them.",
	},
	radpool.Stale: {
		Dropped, "CoA or Disconnect whose Event-Timestamp is not of now",
		"CoA-Requests are stale: a clock is wrong, or somebody sends old ones again.",
	},
	radpool.StatusServer: {Answered, "Status-Server", ""},
	radpool.Duplicate:    {Silent, "a copy of what is in progress, or of what silence answered", ""},
	radpool.Replayed:     {Answered, "a copy of what was answered: the same reply again", ""},
	radpool.TableFull:    {Dropped, "MaxRequests were in progress", "The table of requests is full (MaxRequests)."},
	radpool.QueueFull:    {Dropped, "MaxQueueSize were waiting", "The queue is full (MaxQueueSize)."},
	radpool.Shed:         {Dropped, "gave way to something more urgent", "Requests are shed: more come than can be answered."},
	radpool.Expired:      {Dropped, "waited or ran for too long", "Requests expire: they wait for longer than anybody waits for them."},
	radpool.Superseded:   {Silent, "given up by its NAS, which used the Identifier again", ""},
	radpool.Replied:      {Answered, "answered by the handler", ""},
	radpool.Unanswered:   {Silent, "the handler chose silence", ""},
	radpool.Failed:       {Dropped, "the handler failed: the log says why", "Requests fail: the log says why."},
	radpool.Aborted:      {Dropped, "the server was closed before it was run", ""},
}

// classWords are what each radpool.Class consists of.
var classWords = [radpool.NumClasses]string{
	radpool.ClassStatus:       "Status-Server",
	radpool.ClassConversation: "Access-Request with State",
	radpool.ClassAccess:       "Access-Request, CoA, Disconnect",
	radpool.ClassAccounting:   "Start, Stop, On, Off",
	radpool.ClassInterim:      "Interim-Update",
}

// Alerts that are about no Outcome.
const (
	alertSockets      = "The system drops datagrams before they can be read (ReceiveBuffer)."
	alertUnresponsive = "A handler has not returned in MaxRequestTime."
	alertLate         = "Requests wait: the newest are run first, and the oldest expire."
	alertAllBusy      = "All workers are busy, and requests wait (MaxServers)."
	alertNotServing   = "The server does not serve yet."
)
