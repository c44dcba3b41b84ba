// One endpoint serves PDF and XML, and tells them apart by the end of the path.
export { headers, loader } from './invoices.$number[.]pdf.ts';
