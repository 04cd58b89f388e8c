// See privileges.hpp.
#include "pcap2arrow/privileges.hpp"

#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/os_error.hpp"

namespace strom::pcap2arrow {

namespace {

Status become(const std::string& user) {
  constexpr size_t kRoom = 16384;
  std::vector<char> buffer(kRoom);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
    return Status(ErrorCode::kInvalidParameter, "there is no user \"" + user + "\"");
  if (initgroups(found->pw_name, found->pw_gid) != 0 || setgid(found->pw_gid) != 0 || setuid(found->pw_uid) != 0)
    return base::os_error(errno, "could not become user \"" + user + "\"");
  return Status::ok();
}

constexpr __u32 bit(int capability) { return 1u << capability; }

}  // namespace

Status drop_privileges(const std::string& user) {
  if (!user.empty()) STROM_TRY(become(user));
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capget, &header, data) != 0) return base::os_error(errno, "could not look at capabilities");
  const __u32 kept =
      geteuid() == 0 ? bit(CAP_DAC_OVERRIDE) | bit(CAP_DAC_READ_SEARCH) | bit(CAP_FOWNER) | bit(CAP_CHOWN) : 0;
  data[0].effective &= kept;
  data[0].permitted &= kept;
  data[0].inheritable = data[1].effective = data[1].permitted = data[1].inheritable = 0;
  if (syscall(SYS_capset, &header, data) != 0) return base::os_error(errno, "could not give up capabilities");
  (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return Status::ok();
}

}  // namespace strom::pcap2arrow
