/** The specification's call orders, from a sign-up by mail to paid requests and a login, on each host of the functions. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { textWith } from '../support/matching.ts'
import { runDemo } from '../support/run-demo.ts'
import { startProgram } from '../support/serve.ts'

const onNode = { host: 'Node', flags: ['--node'] }
const hosts = process.env['FORM'] === 'long' ? [onNode, { host: 'workers', flags: [] }] : [onNode]

test.each(hosts)(
  'a local world on $host runs the demo, whose payments are right on the chain to the unit, and ends clean',
  async ({ flags }) => {
    const directory = mkdtempSync(join(tmpdir(), 'aoa-demo-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const world = await startProgram('start', ['--port', '0', '--data', directory, ...flags])

    const shown = await runDemo(directory)
    const code = await world.end('SIGINT')

    expect(shown).toMatchObject({ stdout: textWith('Everything is as it must be.') })
    expect(code).toBe(0)
    expect(world.output()).toMatch(/ s {2}stopped\n$/)
  },
)
