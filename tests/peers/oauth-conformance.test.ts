import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { listen } from '../../scripts/local/process/listen.ts'
import { consent, register, serve } from '../support/oauth.ts'
import { start } from '../support/world.ts'

const suite = fileURLToPath(new URL('../../node_modules/.bin/conformance', import.meta.url))

/** Returns a port that was free a moment ago, for a program that needs a fixed one. */
async function freePort(): Promise<string> {
  const server = await listen(() => new Response())
  await server.close()
  return new URL(server.url).port
}

test('the authorization server passes every scenario of the conformance suite', async () => {
  const tests = await start()
  const served = await serve(tests)
  const agent = await tests.agent('read')
  const port = await freePort()
  const app = await register(served, { redirect_uris: [`http://127.0.0.1:${port}/callback`] })
  const about = ['--url', `${served.url}/oauth`, '--client-id', app, '--port', port]
  const program = spawn(process.execPath, [suite, 'authorization', ...about])
  let said = ''
  let isAsked = false
  program.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
    const [asked] = /http\S+response_type=\S+/.exec(said) ?? []
    if (!asked || isAsked) return
    isAsked = true
    const { searchParams } = new URL(asked)
    void consent(served, agent, Object.fromEntries(searchParams)).then((back) => fetch(back))
  })
  const problems = text(program.stderr)

  const code = await new Promise((resolve) => program.on('close', resolve))

  expect([code, await problems], said).toEqual([0, ''])
  expect(said).toMatch(/[1-9][0-9]* passed, 0 failed/)
})
