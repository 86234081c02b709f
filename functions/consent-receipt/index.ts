import { edgeFunction } from '../../shared/http/edge.ts'
import { consentReceipt } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(consentReceipt, run)
