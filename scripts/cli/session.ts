/** The session of this computer: the service, the client that was registered there, and its tokens, in one private file. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeWhole } from '../program/write-whole.ts'

/** Content of the file. */
export type Session = {
  base_url: string
  client_id: string
  device_id: string
  access_token: string
  /** Time at which the access token ends, in milliseconds since 1970. */
  expires_at: number
  refresh_token: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** Returns the path of the file (XDG Base Directory Specification). */
export function sessionPath(env: Environment): string {
  const config = env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config')
  return join(config, 'aoa', 'session.json')
}

/** Reads the session; undefined if there is none. Throws for a file that is not one. */
export function readSession(env: Environment): Session | undefined {
  const path = sessionPath(env)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
  const kept: unknown = JSON.parse(text)
  if (isSession(kept)) return kept
  throw new Error(`${path} is not a session of this program: remove it and log in again`)
}

const texts = ['base_url', 'client_id', 'device_id', 'access_token', 'refresh_token']

function isSession(value: unknown): value is Session {
  if (typeof value !== 'object' || value === null) return false
  const fields = new Map(Object.entries(value))
  const isNumbered = typeof fields.get('expires_at') === 'number'
  return isNumbered && texts.every((name) => typeof fields.get(name) === 'string')
}

/** Keeps a session for this user alone; the file appears whole or not at all. */
export function keepSession(env: Environment, session: Session): void {
  const path = sessionPath(env)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeWhole(path, `${JSON.stringify(session, null, 2)}\n`, 0o600)
}

/** Forgets the session. */
export function forgetSession(env: Environment): void {
  rmSync(sessionPath(env), { force: true })
}
