/** Writes the service into the configuration of an agent's program, and keeps what is there. */
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeWhole } from '../program/write-whole.ts'
import { type Command, needed, UsageError } from './command.ts'
import { readSession } from './session.ts'

/** File in which a program keeps its servers, and its form. */
type Program = {
  /** Path below the home folder, or below the current one for the configuration of a project. */
  path: string
  isOfProject?: boolean
  /** Key of the servers in JSON, and what stands there; absent for TOML. */
  json?: { key: string; entry: (url: string) => object }
  /** Next step of the user, as a sentence goes on. */
  next: string
}

const programs: Readonly<Record<string, Program>> = {
  claude: {
    path: '.mcp.json',
    isOfProject: true,
    json: { key: 'mcpServers', entry: (url) => ({ type: 'http', url }) },
    next: 'start Claude Code in this folder and choose account under /mcp',
  },
  cursor: {
    path: '.cursor/mcp.json',
    json: { key: 'mcpServers', entry: (url) => ({ url }) },
    next: 'open the settings of Cursor, MCP, and log in',
  },
  vscode: {
    path: '.vscode/mcp.json',
    isOfProject: true,
    json: { key: 'servers', entry: (url) => ({ type: 'http', url }) },
    next: 'open .vscode/mcp.json in VS Code and start the server',
  },
  gemini: {
    path: '.gemini/settings.json',
    json: { key: 'mcpServers', entry: (url) => ({ httpUrl: url }) },
    next: 'start Gemini CLI and log in with /mcp auth account',
  },
  codex: { path: '.codex/config.toml', next: 'run codex mcp login account' },
}

const name = 'account'

const connect: Command = {
  usage: '<claude|cursor|vscode|codex|gemini> [url]',
  summary: 'write the service into the configuration of an agent, which then signs in by itself',
  examples: ['aoa connect claude', 'aoa connect cursor https://account.example'],
  async run(call) {
    const chosen = needed(call, 0, 'the program')
    const program = programs[chosen]
    if (!program) throw new UsageError(`connect takes ${Object.keys(programs).join(', ')}`)
    const base = call.words[1] ?? call.env['AOA_BASE_URL'] ?? readSession(call.env)?.base_url
    if (base === undefined) throw new UsageError('the address of the service is missing')
    const url = `${base.replace(/\/+$/, '')}/mcp`
    const home = call.env['HOME'] || homedir()
    const path = join(program.isOfProject ? process.cwd() : home, program.path)
    const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
    const after = program.json ? withJson(before, path, program.json, url) : withToml(before, url)
    if (after !== before) replaceFile(path, after)
    const done = after === before ? 'has it already' : 'written'
    call.screen.show(
      { path, url, changed: after !== before },
      () => `${path} ${done}. Next: ${program.next}.`,
    )
    return 0
  },
}

function withJson(
  before: string,
  path: string,
  form: NonNullable<Program['json']>,
  url: string,
): string {
  const { key, entry } = form
  const known = before.trim() === '' ? {} : objectIn(before)
  if (!known) {
    const snippet = JSON.stringify({ [key]: { [name]: entry(url) } }, null, 2)
    throw new Error(`${path} is not plain JSON and stays as it is. Add to it:\n${snippet}`)
  }
  const servers: unknown = Reflect.get(known, key) ?? {}
  const isObject = typeof servers === 'object' && servers !== null && !Array.isArray(servers)
  if (!isObject) throw new Error(`${path} has a ${key} of another form, and stays as it is`)
  const there: unknown = Reflect.get(servers, name)
  if (there !== undefined) {
    if (JSON.stringify(there) === JSON.stringify(entry(url))) return before
    throw new Error(`${path} has another server "${name}", and stays as it is: remove it first`)
  }
  const wanted = { ...known, [key]: { ...servers, [name]: entry(url) } }
  return `${JSON.stringify(wanted, null, 2)}\n`
}

function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

const heading = `[mcp_servers.${name}]`

/** Adds a table at the end, which leaves every other line as it is. */
function withToml(before: string, url: string): string {
  const line = `url = ${JSON.stringify(url)}`
  const isThere = /^\s*\[\s*mcp_servers\s*\.\s*["']?account["']?\s*[\].]/m.test(before)
  if (!isThere)
    return `${before.trimEnd()}${before.trim() === '' ? '' : '\n\n'}${heading}\n${line}\n`
  if (before.includes(line)) return before
  throw new Error(`the configuration has a server "${name}" with another address: remove it first`)
}

/** Replaces a configuration; a link to it stays one. */
function replaceFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const isThere = existsSync(path)
  const file = isThere ? realpathSync(path) : path
  writeWhole(file, text, isThere ? statSync(file).mode & 0o777 : 0o600)
}

/** Commands by name. */
export const connectCommands = { connect }
