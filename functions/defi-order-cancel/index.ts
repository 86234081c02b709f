import { edgeFunction } from '../../shared/http/edge.ts'
import { defiOrderCancel } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(defiOrderCancel, run)
