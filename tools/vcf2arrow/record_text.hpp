// A record of BCF as a line of VCF, whose floats read back as the same ones: htslib's own text has six digits of them.
#pragma once

#include <htslib/kstring.h>
#include <htslib/vcf.h>

namespace strom::vcf2arrow {

/// Replaces `line`; without the line's end. False: the record is damaged.
bool format_record(const bcf_hdr_t* header, bcf1_t* record, kstring_t* line);

}  // namespace strom::vcf2arrow
