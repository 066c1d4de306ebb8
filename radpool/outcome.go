package radpool

// An Outcome is how one datagram ended. Each ends in exactly one.
type Outcome uint8

// Outcomes.
const (
	// Ended by the reader of the socket, without a worker.
	Malformed     Outcome = iota // not a RADIUS packet, or one of a kind that must not be (RFC 2865 section 3, RFC 5080)
	UnknownClient                // from no client that is known
	WrongCode                    // a packet code that this socket does not serve
	Unauthentic                  // an authenticator is wrong, or missing where it is required
	Stale                        // CoA-Request or Disconnect-Request whose Event-Timestamp is not of now, or that lacks one it must have (RFC 5176 section 6.3)
	StatusServer                 // Status-Server, answered
	Duplicate                    // of a request in progress, or of one that silence answered: dropped
	Replayed                     // of a request that was answered: the same reply again
	TableFull                    // MaxRequests requests are in progress already
	QueueFull                    // MaxQueueSize requests are waiting, none of which has to give way

	// Ended on the way to a worker.
	Shed       // gave its place in a full queue to another that has more right to it (see Queue), or AutoLimitAcct
	Expired    // waited in the queue, or ran, longer than MaxRequestTime
	Superseded // the NAS gave it up: it used the Identifier for another request

	// Ended by a worker.
	Replied    // answered
	Unanswered // the Handler chose silence
	Failed     // the Handler failed or panicked, or its reply could not be encoded
	Aborted    // the server was closed before it was run

	numOutcomes
)

// NumOutcomes is how many Outcomes there are.
const NumOutcomes = int(numOutcomes)

var outcomeNames = [numOutcomes]string{
	"malformed", "unknown-client", "wrong-code", "unauthentic", "stale", "status-server", "duplicate", "replayed",
	"table-full", "queue-full", "shed", "expired", "superseded", "replied", "unanswered", "failed", "aborted",
}

// String returns the name, for logs and labels: "unknown-client".
func (o Outcome) String() string {
	if o >= numOutcomes {
		return "invalid"
	}
	return outcomeNames[o]
}
