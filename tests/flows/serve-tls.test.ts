/** The port of a service speaks TLS by a given certificate, and takes a renewed one without an end. */
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { type Host, startHost } from '../../scripts/serve/host.ts'
import { trialCertificate } from '../support/certificate.ts'
import { textWith } from '../support/matching.ts'

const directory = mkdtempSync(join(tmpdir(), 'aoa-tls-'))
afterAll(() => rmSync(directory, { recursive: true }))

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = z.object({ port: z.int() }).parse(server.address())
  server.close()
  await once(server, 'close')
  return port
}

/** Returns the serial number of the certificate that a port shows. */
async function serialOf(port: number): Promise<string | undefined> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { serialNumber } = socket.getPeerX509Certificate() ?? {}
  socket.destroy()
  return serialNumber
}

/** Writes a certificate that differs from another in the last digit of its serial number. */
function renew(path: string): string {
  const { raw, serialNumber } = new X509Certificate(readFileSync(path))
  const serial = Buffer.from(serialNumber, 'hex')
  const at = raw.indexOf(serial) + serial.length - 1
  raw.writeUInt8(raw.readUInt8(at) ^ 1, at)
  const lines = raw.toString('base64').replaceAll(/.{64}/g, '$&\n')
  writeFileSync(path, `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`)
  return new X509Certificate(raw).serialNumber
}

test('a certificate that was renewed is shown after a reload, and a broken one changes nothing', async () => {
  const tls = await trialCertificate(directory)
  const port = await freePort()
  const told: string[] = []
  const host: Host = await startHost({
    port,
    hostname: '127.0.0.1',
    tls,
    routes: [],
    isBehindProxy: false,
    first: () => new Response('hello'),
    note() {},
    say: (line) => told.push(line),
  })
  const { serialNumber: first } = new X509Certificate(readFileSync(tls.cert))

  const shown = await serialOf(port)
  const second = renew(tls.cert)
  host.reload()
  const renewed = await serialOf(port)
  writeFileSync(tls.cert, 'not a certificate')
  host.reload()
  const kept = await serialOf(port)
  await host.stop()

  expect([shown, renewed, kept]).toEqual([first, second, second])
  expect(first).not.toBe(second)
  expect(told).toMatchObject([textWith('read again'), textWith('stays as it was')])
})
