/** Texts that are likely to cost most: each piece repeated, and a few that grow in another way. */
import fc from 'fast-check'
import { sourcesIn } from '../tidy/files.ts'
import { writtenIn } from '../tidy/patterns.ts'

const pieces = [
  ...'a A 7 4829 é 字 \u0301 \u{1f469}\u200d \u00ad \0 \ud800 . , ; : - _ ~ = ( ) [ { } " \' ` < > & # % / \\ @ | ! *'.split(
    ' ',
  ),
  ...' |\t|\n|\r|\r\n|\r\n\r\n| \n|4829\n|4829 |482-913 |4·8·|[4]|руб|руб4829 |order::::|code: |is your code '.split(
    '|',
  ),
  ...'code,code  ,Your code is 482913. ,pin: 4829\n,password: hunter22\n,g:'.split(','),
  'code|',
  ...'code is Xk9#mQ2!vT |KDF-QWE |faint-mossy-tidal |https://a.example/4829 |https://|www.|.,:;!?)'.split(
    '|',
  ),
  ...'<p>|<p|</p>|<i class=a>|<a href="|<!--|-->|<style>a{|a{color:red}|.a .b,|<table><tr><td>|<script>|<![CDATA['.split(
    '|',
  ),
  ...'&amp;|&#x41;|&#0;|&nbsp|style="|style="color:#fff;|font-size:0;|display:none;|<input name=a type=password>'.split(
    '|',
  ),
  ...'--b\r\n|--b\r\n\r\na\r\n|--b--\r\n|=\r\n|=3D|=?utf-8?q?=61?= |=?utf-8?b?YQ==?=|a=b;|a="\\"";|(a(|\\(|a@b.example,'.split(
    '|',
  ),
  ...'"a" <a@b.c>, |<a@b> |spf=pass |a=b |Payment a="b", |Basic |aaaa |YWFh|{"a":|[[|"a",|\\u0061|%00|%u|a=b&|xn--|a.b.'.split(
    '|',
  ),
]

export type Text = { name: string; of(length: number): string }

function repeated(piece: string): Text {
  const name = `${JSON.stringify(piece)} over and over`
  return { name, of: (length) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length) }
}

export const texts: readonly Text[] = [
  ...[...new Set(pieces.filter((piece) => piece !== ''))].map(repeated),
  {
    name: 'one rule and its elements',
    of: (length) =>
      `<style>.a{${'color:red;'.repeat(length / 20)}}</style>${'<i class=a>'.repeat(length / 22)}`,
  },
  {
    name: 'as many rules as elements',
    of: (length) =>
      `<style>${Array.from({ length: length / 40 }, (_, at) => `.a${at}{color:red}`).join('')}</style>${'<i class=a1>'.repeat(length / 24)}`,
  },
  {
    name: 'other words each time',
    of: (length) =>
      Array.from({ length: length / 14 }, (_, at) => `code: ${at * 7_919}x `)
        .join('')
        .slice(0, length),
  },
  {
    name: 'other passwords each time',
    of: (length) =>
      Array.from({ length: length / 20 }, (_, at) => `password: ${at * 7_919}xqzvw `)
        .join('')
        .slice(0, length),
  },
  {
    name: 'half of it opened and half of it closed',
    of: (length) => `${'<b>'.repeat(length / 7)}${'</b>'.repeat(length / 7)}`,
  },
  {
    name: 'brackets in brackets',
    of: (length) => `${'['.repeat(length / 2)}${']'.repeat(length / 2)}`,
  },
]

const printable = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at))

/**
 * Returns false if a negated class excludes all printable characters of ASCII. Only those are drawn for
 * one by fast-check, which would search forever.
 */
function isDrawable(source: string, flags: string): boolean {
  const negated = source.match(/\[\^(?:\\.|[^\]\\])+\]/g) ?? []
  return negated.every((one) => {
    const pattern = new RegExp(one, flags.replaceAll(/[gy]/g, ''))
    return printable.some((sign) => pattern.test(sign))
  })
}

/** Returns, for each pattern of these folders, texts that match it repeatedly and end in a mismatch. */
export function textsOfPatterns(...folders: string[]): Text[] {
  return [...new Set(folders.flatMap(samplesOf))]
    .filter((piece) => piece !== '')
    .map((piece) => ({
      ...repeated(piece),
      of: (length) => `${repeated(piece).of(length - 1)}\u0001`,
    }))
}

const samples = new Map<string, string[]>()

/** Returns short texts that the patterns of a folder match. Drawing them takes seconds, so it is done once. */
function samplesOf(folder: string): string[] {
  const known = samples.get(folder)
  if (known) return known
  const drawn = sourcesIn(folder)
    .flatMap(writtenIn)
    .flatMap(({ source, flags }) => {
      if (!isDrawable(source, flags)) return []
      try {
        const matching = fc.stringMatching(new RegExp(source, flags.replace('y', '')))
        return fc.sample(matching, { seed: 1, numRuns: 3 }).map((one) => one.slice(0, 40))
      } catch {
        // The pieces above and the test of the patterns cover what fast-check cannot generate.
        return []
      }
    })
  samples.set(folder, drawn)
  return drawn
}
