//go:build !unix

package main

import "os/exec"

func group(*exec.Cmd) {}

// interrupt ends the process at once: other systems have no interrupt to send it.
func interrupt(cmd *exec.Cmd) { kill(cmd) }

func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // one that has ended needs none
}
