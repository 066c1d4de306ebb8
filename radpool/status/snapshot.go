package status

import "time"

// Snapshot is what the page shows, and what status.json gives. Times that something
// took are in seconds, sizes in octets, and numbers without another unit are counts
// since the server began.
type Snapshot struct {
	Title   string    `json:"title"`
	Time    time.Time `json:"time"`    // of the snapshot
	Started time.Time `json:"started"` // when the server began to serve; zero: it has not

	Received uint64    `json:"received"`  // datagrams
	InFlight uint64    `json:"in_flight"` // of them, those that wait or are run now
	Outcomes []Outcome `json:"outcomes"`  // how the others ended: Received = InFlight + the sum of their Counts
	Sockets  Sockets   `json:"sockets"`
	Rates    Rates     `json:"rates"` // of the last ten seconds

	Queue         Queue           `json:"queue"`
	Workers       Workers         `json:"workers"`
	ResponseTimes []ResponseTimes `json:"response_times"` // of the last minute
	Cache         Cache           `json:"cache"`
	Arena         Arena           `json:"arena"`

	Clients      []Client  `json:"clients"` // those that have asked most, that first
	ClientsTotal int       `json:"clients_total"`
	Waiting      []Waiting `json:"waiting"` // the NASes of which most waits, that first

	Figures []Figure `json:"figures"`
	Alerts  []string `json:"alerts"` // what somebody should look at now; none: all is well
	Advice  []string `json:"advice"` // radpool.Advice.Reasons

	IntervalSeconds float64 `json:"interval_seconds"` // between two points of History
	History         []Point `json:"history"`          // of the last 15 minutes, oldest first
}

// Outcome is one way in which datagrams end.
type Outcome struct {
	Name      string  `json:"name"`        // radpool.Outcome.String
	Kind      Kind    `json:"kind"`        //
	Count     uint64  `json:"count"`       //
	PerSecond float64 `json:"per_second"`  // in the last minute
	Meaning   string  `json:"description"` // in words
}

// A Kind says what an Outcome means for who asked.
type Kind string

// The Kinds.
const (
	Answered Kind = "answered"
	Silent   Kind = "silent"  // no answer, and none is missed: a copy of what is in progress, or the handler's choice
	Dropped  Kind = "dropped" // no answer
)

// Sockets is what the system says of the sockets.
type Sockets struct {
	Dropped       uint64 `json:"dropped"`        // by the system, before they could be read; not in Received
	Uncounted     int    `json:"uncounted"`      // sockets of which it does not tell
	ReceiveBuffer int    `json:"receive_buffer"` // octets; 0: not known
	ReadErrors    uint64 `json:"read_errors"`
	WriteErrors   uint64 `json:"write_errors"`
}

// Rates are datagrams a second.
type Rates struct {
	Received float64 `json:"received"`
	Answered float64 `json:"answered"`
	Silent   float64 `json:"silent"`
	Dropped  float64 `json:"dropped"` // by the server; Lost are those that the system has dropped
	Lost     float64 `json:"lost"`
}

// Queue is what waits for a worker.
type Queue struct {
	Waiting       int     `json:"waiting"`
	Max           int     `json:"max"` // MaxQueueSize
	HighWater     int     `json:"high_water"`
	OldestSeconds float64 `json:"oldest_seconds"`
	Classes       []Class `json:"classes"` // the most urgent first
}

// Class is what waits of one radpool.Class.
type Class struct {
	Name          string  `json:"name"`        // radpool.Class.String
	Meaning       string  `json:"description"` // what it consists of
	Waiting       int     `json:"waiting"`
	OldestSeconds float64 `json:"oldest_seconds"`
	NewestFirst   bool    `json:"newest_first"` // it is lastingly late, so the newest run first

	Submitted uint64 `json:"submitted"`
	Refused   uint64 `json:"refused"` // the queue was full
	Evicted   uint64 `json:"evicted"` // gave way in a full queue
	Expired   uint64 `json:"expired"` // waited for longer than its NAS does
}

// Workers are the workers.
type Workers struct {
	Workers  int `json:"workers"`
	Busy     int `json:"busy"`
	Idle     int `json:"idle"`
	Starting int `json:"starting"`
	Max      int `json:"max"`       // that there may be; 0: not known
	Limit    int `json:"limit"`     // that may run requests at once, as the policy has found out; 0: it sets no limit
	MinSpare int `json:"min_spare"` // the band of idle ones; 0 and 0: the policy has none
	MaxSpare int `json:"max_spare"`

	HighWater     int     `json:"high_water"`
	BusyHighWater int     `json:"busy_high_water"`
	Spawned       uint64  `json:"spawned"`
	Retired       uint64  `json:"retired"`
	Recycled      uint64  `json:"recycled"`
	Panics        uint64  `json:"panics"`
	Unresponsive  int     `json:"unresponsive"` // in a handler that has not returned in MaxRequestTime
	ServiceTime   float64 `json:"service_time_seconds"`
}

// ResponseTimes is how long one kind of reply took, from the arrival of the request on.
type ResponseTimes struct {
	Name  string  `json:"name"` // "Access-Request"
	Count uint64  `json:"count"`
	Mean  float64 `json:"mean_seconds"`
	P50   float64 `json:"p50_seconds"`
	P90   float64 `json:"p90_seconds"`
	P99   float64 `json:"p99_seconds"`
	P999  float64 `json:"p999_seconds"`
}

// Cache is the table of requests in progress and of replies that are kept.
type Cache struct {
	Entries    int    `json:"entries"`
	Max        int    `json:"max"` // MaxRequests
	InFlight   int    `json:"in_flight"`
	Retained   int    `json:"retained"`   // replies
	Octets     int    `json:"octets"`     // of memory
	Tombstones int    `json:"tombstones"` // in flight for longer than MaxRequestTime
	Expired    uint64 `json:"expired"`    // at the end of their time
	Evicted    uint64 `json:"evicted"`    // before it, to make room
}

// Arena is the memory of requests.
type Arena struct {
	InUse     int    `json:"in_use"`
	ChunkSize int    `json:"chunk_size"`
	HighWater int    `json:"high_water"` // octets that one request used, at most and
	LowWater  int    `json:"low_water"`  // at least
	P50       int    `json:"p50"`
	P90       int    `json:"p90"`
	P99       int    `json:"p99"`
	Overflows uint64 `json:"overflows"` // allocations that the chunk had no room for
	Resizes   uint64 `json:"resizes"`
}

// Client is what is known of a client, without its secret.
type Client struct {
	Name            string  `json:"name"`
	Prefix          string  `json:"prefix"`
	Requests        uint64  `json:"requests"`
	Duplicates      uint64  `json:"duplicates"`
	Dropped         uint64  `json:"dropped"`
	PatienceSeconds float64 `json:"patience_seconds"` // 0: nothing learned
	Signs           bool    `json:"signs"`            // a Message-Authenticator is required of it, since it has sent one
}

// Waiting is what waits of one NAS.
type Waiting struct {
	Address       string  `json:"address"`
	Client        string  `json:"client"` // its name
	Waiting       int     `json:"waiting"`
	OldestSeconds float64 `json:"oldest_seconds"`
}
