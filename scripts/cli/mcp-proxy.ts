/**
 * Passes messages of MCP between standard input and output and the service (Streamable HTTP of 2025-11-25), with the
 * login of this computer. One message a line; an answer may be JSON or a stream of events.
 */
import { createInterface } from 'node:readline'
import { clientOptions } from './client-options.ts'
import type { Command } from './command.ts'

const mcp: Command = {
  usage: '',
  summary: 'serve the tools over standard input and output, for programs that start MCP servers',
  examples: ['claude mcp add account -- aoa mcp'],
  async run(call) {
    const { fetch, signal, screen } = call
    const { baseUrl, apiKey, token } = clientOptions(call)
    let sessionId: string | null = null
    let version: string | undefined
    const send = async (line: string) => {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${token ? await token() : apiKey}`,
        ...(sessionId !== null && { 'mcp-session-id': sessionId }),
        ...(version !== undefined && { 'mcp-protocol-version': version }),
      }
      const answer = await fetch(`${baseUrl}/mcp`, { method: 'POST', headers, body: line, signal })
      sessionId = answer.headers.get('mcp-session-id') ?? sessionId
      for (const message of messagesIn(await answer.text())) {
        version = versionIn(message) ?? version
        process.stdout.write(`${message}\n`)
      }
    }
    const open = new Set<Promise<void>>()
    for await (const line of createInterface({ input: process.stdin })) {
      if (line.trim() === '') continue
      const work = send(line).catch((error: unknown) => {
        screen.say(String(error))
        process.stdout.write(`${failure(line, error)}\n`)
      })
      open.add(work)
      void work.finally(() => open.delete(work))
      // The first message sets the version that all others name.
      if (version === undefined) await work
    }
    await Promise.all(open)
    return 0
  },
}

function messagesIn(text: string): string[] {
  if (text.trim() === '') return []
  if (text.trimStart().startsWith('{')) return [text.trim()]
  const lines = text.split(/\r?\n/).filter((line) => line.startsWith('data:'))
  return lines.map((line) => line.slice('data:'.length).trim()).filter((line) => line !== '')
}

function versionIn(message: string): string | undefined {
  return /"protocolVersion"\s*:\s*"([0-9-]+)"/.exec(message)?.[1]
}

/** Returns an error of JSON-RPC for the message that could not be sent. */
function failure(line: string, error: unknown): string {
  const { id = null } = JSON.parse(line) as { id?: unknown }
  const message = error instanceof Error ? error.message : String(error)
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_000, message } })
}

/** Commands by name. */
export const mcpCommands = { mcp }
