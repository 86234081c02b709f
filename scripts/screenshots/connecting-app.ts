/** An app that asks its user for access by OAuth: the steps that it takes outside the browser. */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { WorldFile } from '../demo/world-file.ts'
import { openAgent } from './agent.ts'

/** A registered app. */
export type ConnectingApp = { client_id: string; redirect_uri: string }

const verifier = 'v'.repeat(43)
const codeChallenge = createHash('sha256').update(verifier).digest('base64url')

/** Registers an app whose users return to this address. */
export async function registerApp(
  { base_url }: WorldFile,
  redirect_uri: string,
  client_name = 'Research desk',
): Promise<ConnectingApp> {
  const told = { client_name, redirect_uris: [redirect_uri] }
  const registered = z.object({ client_id: z.string() })
  const { client_id } = await openAgent(base_url)('/oauth/register', told, registered)
  return { client_id, redirect_uri }
}

/** Returns the address to which the app sends its user. */
export function askingUrl({ web_url }: WorldFile, app: ConnectingApp, scope: string): string {
  const proof = { code_challenge: codeChallenge, code_challenge_method: 'S256' }
  const asked = { ...app, ...proof, scope, response_type: 'code', state: 'of this browser' }
  return `${web_url}/authorize?${new URLSearchParams(asked).toString()}`
}

/** Exchanges the code that the user came back with for an access token. */
export async function redeem(
  { base_url }: WorldFile,
  app: ConnectingApp,
  backAt: string,
): Promise<string> {
  const code = new URL(backAt).searchParams.get('code') ?? ''
  const proof = { grant_type: 'authorization_code', code, code_verifier: verifier }
  const answer = await fetch(`${base_url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...app, ...proof }),
  })
  return z.object({ access_token: z.string() }).parse(await answer.json()).access_token
}
