import { edgeFunction } from '../../shared/http/edge.ts'
import { mailWait } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(mailWait, run)
