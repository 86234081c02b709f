import { edgeFunction } from '../../shared/http/edge.ts'
import { defiOrderEvents } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(defiOrderEvents, run)
