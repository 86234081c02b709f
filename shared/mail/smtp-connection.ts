/**
 * Lines and replies of an SMTP connection. A connection that ends, or answers without end, is an
 * error at once; one that stays silent is for whoever opened it to close.
 */

/** A TCP connection, as the platform opens it. */
export type Socket = {
  readable: ReadableStream<Uint8Array>
  writable: WritableStream<Uint8Array>
  close(): Promise<unknown>
}
/** Opens a connection; with `tls` it is encrypted from the first byte. */
export type Connect = (hostname: string, port: number, tls: boolean) => Socket

/** Three digits, and all that the server said. */
export type Reply = { code: number; text: string }
/** Sends a line, if any, and reads the reply to it. */
export type Ask = (line?: string) => Promise<Reply>

/** A reply is a few lines (RFC 5321 section 4.5.3.1.5: 512 octets each). */
const replyCharactersMax = 16 * 1024

/** Speaks with the server at the other end. */
export function askingOn({ readable, writable }: Socket): Ask {
  const reader = readable.getReader()
  const writer = writable.getWriter()
  const decoder = new TextDecoder()
  return async (line) => {
    if (line !== undefined) await writer.write(new TextEncoder().encode(`${line}\r\n`))
    for (let text = ''; text.length < replyCharactersMax; ) {
      const { value, done } = await reader.read()
      if (done) throw new Error('the mail server closed the connection')
      text += decoder.decode(value, { stream: true })
      // The last line of a reply has a space after its code (RFC 5321 section 4.2.1).
      const [, code] = /(?:^|\n)(\d{3})(?: [^\n]*)?\r?\n$/.exec(text) ?? []
      if (code !== undefined) return { code: Number(code), text: text.trim() }
    }
    throw new Error('the mail server answers too much')
  }
}
