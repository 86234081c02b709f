import { contracts } from '../contracts.ts'
import { documents } from './documents.ts'
import { discoveryFunction } from './serve.ts'

export default discoveryFunction({ contracts, documents })
