declare module 'http_ece' {
  import type { ECDH } from 'node:crypto'

  type Receiver = { version: 'aes128gcm'; privateKey: ECDH; authSecret: string }
  const ece: { decrypt(body: Buffer, receiver: Receiver): Buffer }
  export default ece
}
