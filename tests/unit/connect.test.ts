/** Connections to a database check the certificate as far as their address asks for it, and never less. */
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { connectTo, isCertificateChecked } from '../../scripts/program/connect.ts'
import { supabaseRoot } from '../../scripts/program/supabase-root.ts'

const folder = mkdtempSync(join(tmpdir(), 'aoa-connect-'))
/** Self-signed for database.example, and valid until 2126. */
const shown = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBqjCCAVCgAwIBAgIUfVda6wBYBpSNQDmLjFSJhLXVyZUwCgYIKoZIzj0EAwIw
GzEZMBcGA1UEAwwQZGF0YWJhc2UuZXhhbXBsZTAgFw0yNjExMzAyMDI3NTNaGA8y
MTI2MTEwNjIwMjc1M1owGzEZMBcGA1UEAwwQZGF0YWJhc2UuZXhhbXBsZTBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABJLPsmMzxIQf1XEeT9EXVzw/obHD7s+bGVFB
lWSUajuxP2AT07gIMJe2onmBTXm0DVOJND9XEgAzdaXmbTsgpiGjcDBuMB0GA1Ud
DgQWBBSktHJlMWY06kjTPafvtcJRsA36ijAfBgNVHSMEGDAWgBSktHJlMWY06kjT
PafvtcJRsA36ijAPBgNVHRMBAf8EBTADAQH/MBsGA1UdEQQUMBKCEGRhdGFiYXNl
LmV4YW1wbGUwCgYIKoZIzj0EAwIDSAAwRQIgDFnvO9adHv7uu1Cmia6bq2Qv7cL9
fWv77G27xHWY2cUCIQCQwvTJOHSf0W0/e2fzMJl2j8Cleib1lLfAcvJXr4bzcQ==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgngUL3X4SlyWIjxxV
jAhLkgrVlIPp4ANrLpqaz3KMpgahRANCAASSz7JjM8SEH9VxHk/RF1c8P6Gxw+7P
mxlRQZVklGo7sT9gE9O4CDCXtqJ5gU15tA1TiTQ/VxIAM3Wl5m07IKYh
-----END PRIVATE KEY-----
`,
}
const certificate = join(folder, 'authority.pem')
writeFileSync(certificate, shown.cert)
let greeted = 0

/** A refusal as PostgreSQL sends it (Message Formats, ErrorResponse). */
const fields = Buffer.from('SFATAL\0C28P01\0Mwrong password\0\0')
const refusal = Buffer.concat([Buffer.from('E'), Buffer.alloc(4), fields])
refusal.writeInt32BE(fields.length + 4, 1)

/** Answers the request for TLS as PostgreSQL does, and refuses each client that accepts the certificate. */
const server = createServer((socket) => {
  socket.on('error', () => {})
  socket.once('data', () => {
    socket.write('S')
    const secure = new TLSSocket(socket, { isServer: true, ...shown })
    secure.on('error', () => {})
    secure.once('data', () => {
      greeted += 1
      secure.end(refusal)
    })
  })
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = z.object({ port: z.int() }).parse(server.address())
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

/** Returns true if a client said its name, which it says after it has accepted the certificate. */
async function isAccepted(query: string): Promise<boolean> {
  const before = greeted
  const sql = connectTo(`postgres://user:password@127.0.0.1:${port}/postgres?${query}`)
  await expect(sql`select 1`).rejects.toThrow()
  await sql.end({ timeout: 0 })
  return greeted > before
}

test('a certificate of an unknown authority is refused, unless its file is given', async () => {
  const file = `sslrootcert=${encodeURIComponent(certificate)}`

  expect(await isAccepted('sslmode=verify-full')).toBe(false)
  expect(await isAccepted('sslmode=verify-ca')).toBe(false)
  expect(await isAccepted('sslrootcert=system')).toBe(false)
  expect(await isAccepted(`sslmode=verify-ca&${file}`)).toBe(true)
  expect(await isAccepted(`sslmode=require&${file}`)).toBe(true)
  expect(await isAccepted(`sslmode=verify-full&${file}`), 'it is for another host').toBe(false)
  expect(await isAccepted('sslmode=require'), 'nothing is asked for').toBe(true)
})

test('the certificates of Supabase are checked wherever TLS is demanded', () => {
  const { fingerprint256, subject } = new X509Certificate(supabaseRoot)

  expect(subject).toContain('CN=Supabase Root 2021 CA')
  expect(fingerprint256.replaceAll(':', '').toLowerCase()).toBe(
    '807025ad50d4ed219d2c9c7d299c004f824eb00cf7f65afef607d07b72e6cafa',
  )
  const checks = [
    'db.abc.supabase.co:5432/postgres?sslmode=require',
    'aws-0-eu.pooler.supabase.com:5432/postgres?sslmode=require',
    'db.example/postgres?sslmode=require',
    'db.example/postgres?sslmode=verify-full',
  ].map((address) => isCertificateChecked(`postgres://user:password@${address}`))
  expect(checks).toEqual([true, true, false, true])
})
