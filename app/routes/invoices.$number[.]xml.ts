// The endpoint tells XML from PDF by the end of the path.
export { headers, loader } from './invoices.$number[.]pdf.ts';
