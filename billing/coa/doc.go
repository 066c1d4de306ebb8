// Package coa changes and ends sessions that are in progress (CoA and Disconnect, RFC
// 5176): when the money, the quota or the subscription ends, and when it is paid for again.
//
//	accounting, payments ──► what a session is to have (Want) ─┐
//	                                                           ├─► State.Decide ─► Save ─► NAS is asked
//	Class, CoA-ACK ────────► what a session has (State) ───────┘        ▲                      │
//	                                                                    └──── State.After ◄────┘
//
// A back end implements [Store]: which sessions are open, what each is to have, and a place
// for its [State]. A [Controller] compares the two, at once where it is told to (Wake) and
// for all sessions from time to time (Config.Sweep), and asks the NASes, through a [Client].
// So nothing has to be noticed in time: what was missed while the server was down, a
// payment that somebody wrote into the database or a new month is found by the next sweep.
// The back end ledger is a Store; another one needs no more than these two methods.
//
// # What a NAS is asked for
//
// A CoA-Request with the attributes of the new [Mode], or a Disconnect-Request where there is to
// be no session, where a CoA-Request cannot bring the mode about (Want.Relogin), and where
// the NAS has refused it (Want.Fallback). The session's Stop confirms a Disconnect: without one
// the NAS is asked again. A CoA-ACK confirms a change.
//
// A NAS that is silent is asked again, less and less often, and one that answers
// Session-Context-Not-Found only when the session sends accounting after all. After silence
// nobody knows what the session has, and so even what it had before is asked for.
//
// # Several servers, and kill -9
//
// A State is saved before the NAS is asked, with a Version: of several servers one saves it,
// and has the session to itself for Timing.Lease. When a server dies another goes on, or
// it does itself; a NAS may then be asked twice for the same, which changes nothing.
//
// # Limits
//
// The zero Config means:
//
//	Sweep           1 min    all sessions are looked at
//	Linger           1 s     after Wake, so that many users are one question
//	AskTime         10 s     for a NAS to answer
//	MaxInFlight     64       NASes asked at once
//	MaxWoken    65,536       users; more are left to the sweep
//	Timing                   10 s to 30 min between tries; 5 min for a Stop; lease 1 min
package coa
