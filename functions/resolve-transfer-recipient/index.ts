import { edgeFunction } from '../../shared/http/edge.ts'
import { resolveTransferRecipient } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(resolveTransferRecipient, run)
