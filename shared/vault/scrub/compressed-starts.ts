/** Beginnings of compressed data that is written as text. */

/** First two characters of `compressedHead`. */
export const compressedStarts = ['H4', 'eJ', 'eN', 'eF', 'eA', '1f', '1F', '78']

/** Header of gzip (RFC 1952) or zlib (RFC 1950, any level), in base64 or hexadecimal digits. */
export const compressedHead =
  /^(?:H4sI|eJ[w-z]|eN[o-r]|eF[4-7]|eA[E-H]|1f8b08|1F8B08|78(?:01|5[eE]|9[cC]|[dD][aA]))/
