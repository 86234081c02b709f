/**
 * Recognizes files of a mail that are mails themselves, whatever type they claim. They have codes and
 * parts of their own, which no agent is shown. They are recognized by how they begin, by a part encoded
 * as in a mail, or by their names.
 */

/** File names that programs give to files with mails in them. */
const mailName =
  /\.(?:eml|emlx|emltpl|mbox|mbx|msg|oft|mht|mhtml|tnef|pst|ost|p7m|p7z)\.{0,3}$|^winmail\.dat$/i

/** Names of headers. Two of them make the beginning of a mail (RFC 5322 section 3.6). */
const header =
  /^(from|to|cc|subject|date|received|return-path|delivered-to|message-id|mime-version|content-type|reply-to|sender|authentication-results|dkim-signature|x-[a-z-]{1,60})[ \t]*:/i
/** Only a mail, or a page saved like one, has a part with this header (RFC 2045 section 6). */
const encodedPart =
  /^[> ]{0,8}content-transfer-encoding[ \t]{0,8}:\s{0,8}(?:\([^()\n]{0,80}\)\s{0,8})?"?(?:base64|quoted-printable)/im

const headLinesMax = 40

/** Returns true if a file is a mail or contains mails. */
export function isEnclosedMail(name: string, content: Uint8Array): boolean {
  return (
    mailName.test(name.trim()) ||
    isBinaryMail(content) ||
    isSignedMail(content) ||
    isMailText(latin1TextWithoutBom(content))
  )
}

/** Recognizes a mail signed as a whole: object identifier (RFC 5652 section 4), or armour (RFC 4880). */
function isSignedMail(content: Uint8Array): boolean {
  const begin = latin1TextWithoutBom(content.subarray(0, 256))
  const isSigned = content[0] === 0x30 && begin.includes('*\u0086H\u0086÷\r\u0001\u0007\u0002')
  return isSigned || /^\s{0,8}-----BEGIN (?:PGP MESSAGE|PKCS7|CMS)-----/.test(begin)
}

/** Recognizes Outlook's formats: the names of streams in a compound file, and TNEF by its first bytes. */
function isBinaryMail(content: Uint8Array): boolean {
  const [first, second, third, fourth] = content
  if (first === 0x78 && second === 0x9f && third === 0x3e && fourth === 0x22) return true
  const isCompound = first === 0xd0 && second === 0xcf && third === 0x11 && fourth === 0xe0
  return isCompound && latin1TextWithoutBom(content).includes('__substg1.0_')
}

function isMailText(text: string): boolean {
  const begin = text.slice(0, 16_384).trimStart()
  const lines = begin.split(/\r\n|\r|\n/, headLinesMax)
  // The line that separates mails in one file (RFC 4155).
  if (/^From \S+/.test(lines[0] ?? '')) lines.shift()
  const end = lines.findIndex((line) => !/^[!-9;-~]{1,76}[ \t]*:|^[ \t]+\S/.test(line))
  const head = end === -1 ? lines : lines.slice(0, end)
  const names = head.flatMap((line) => header.exec(line)?.[1]?.toLowerCase() ?? [])
  return new Set(names).size > 1 || encodedPart.test(text)
}

/** Decodes one character per byte, without the zero bytes and byte order marks of wider charsets. */
function latin1TextWithoutBom(content: Uint8Array): string {
  return new TextDecoder('latin1').decode(content).replaceAll(/\0|^(?:ÿþ|þÿ|ï»¿)/g, '')
}
