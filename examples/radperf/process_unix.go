//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// group puts the process into a group of its own, so that what it starts ("go run" starts the program) ends with it, and
// an interrupt from the terminal reaches radperf alone, which then ends it in its turn.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func interrupt(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGINT) }

func kill(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGKILL) }

func signalGroup(cmd *exec.Cmd, s syscall.Signal) {
	_ = syscall.Kill(-cmd.Process.Pid, s) // one that has ended needs none
}
